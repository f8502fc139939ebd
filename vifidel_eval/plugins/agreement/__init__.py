"""Agreement of metrics with people: data sets of human judgements, experiments, figures.

Each data set's module reads its own files into the shapes of `judgements`; `trials` scores the
captions under drawn references; `forced_choice`, `correlation` and `detection` compare the scores
with the judgements, and give a `result`.
"""
