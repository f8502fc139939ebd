"""Agreement of metrics with people: data sets of human judgements, experiments, figures.

Data flows from a data set's own files (`pascal50s`, `abstract50s`, `flickr8k`, `composite`,
`distractors`) as `judgements` through `trials`, which score them under drawn references, to
`forced_choice` and `correlation`, which compare the scores with the judgements.
"""
