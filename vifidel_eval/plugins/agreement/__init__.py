"""Agreement of metrics with people: data sets of human judgements, experiments, figures.

Readers of data sets return the shapes of `judgements`; `trials` scores the captions under drawn
references; `forced_choice`, `correlation` and `detection` compare the scores with the judgements,
and give a `result`.
"""
