"""Fits the weights of `foundry context find` (foundry/context/retrieval/weights.json).

    scripts/fit-retrieval REPOSITORIES [--cases FILE.jsonl]... [--out weights.json]

REPOSITORIES is a folder of git repositories with their history (`git clone --no-checkout` will
do); nothing is written there. The way from it to the weights, a module each:

1. `cases`: commits become questions. What is asked is the commit's message, right are the source
   files that it changed, and it is asked in the state before the commit.
2. `snapshot`: that state, index and history included, from git's objects, without a checkout.
3. `samples`: what every feature says of every candidate. This takes nearly all of the time, and is
   kept until the cases or the code of the features change.
4. `model`: weights under which the right files are the likeliest, and the calibration of the
   scores; the same for the cross-validation, where every case is ranked by weights that never saw
   its repository.
5. `table`: how good these rankings are. Compare this, not the fit on all cases, with other ideas;
   `--ablate` adds what each feature is worth: the table without it.

Repositories that are kept aside for a final figure don't belong in the folder.
"""
