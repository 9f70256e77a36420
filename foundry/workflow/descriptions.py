"""What the fields of a document are, where their models don't say it: for the published schema.

By the field's name, or by `Model.name` where the name alone would mislead.
"""

DESCRIPTIONS: dict[str, str] = {
    "id": "a short name of its own: letters, digits, '-' and '_'",
    "title": "what the step is, in a line; `{{name}}` is filled in",
    "phase": "steps of one phase are shown and skipped together; left out: the step's id",
    "runCondition": "it runs only where this holds; a loop: asked once, before it begins",
    "functionDefinitions": "guidance with a name, for what stands here and inside of it",
    # workflow
    "Workflow.id": "the name that it is called by",
    "Workflow.name": "what it is called in lists",
    "Workflow.description": "what it is for, in a sentence",
    "Workflow.functionDefinitions": "guidance with a name, for every step",
    "version": "three numbers, such as 1.0.0",
    "steps": "what is done, in this order; a step that a loop names as its body runs only there",
    # step
    "guidance": "advice for this step, a line each; `{{name}}` is filled in",
    "hasValidation": "the output is judged by `validationCriteria`",
    "validationCriteria": "rules that all have to hold for the output, or one composition of them",
    "functionCalls": "functions that are to be followed, with their arguments",
    "budget": "what the step's conversation may use before it is ended",
    "action": "something that the harness does itself, without a conversation",
    "attempts": "how often it is tried before it counts as failed",
    # loop
    "LoopStep.type": "says that this is a loop",
    "loop": "how often the body is repeated",
    "body": "the steps that are repeated in order, or the id of one that stands on the top level",
    "Loop.type": "for: a number of times; forEach: for each item of a list; while, until: as long "
    "as a condition holds, or does not. Checked before every iteration",
    "maxIterations": "it ends after as many in any case, with a warning",
    "Loop.condition": "while, until: what is asked before every iteration",
    "iterationVar": "variable with the number of the iteration, from 1",
    "itemVar": "forEach: variable with the item",
    "indexVar": "forEach: variable with the item's place, from 0",
    # condition
    "equals": "it is this: case does not matter, '3' is 3, and null is what is missing",
    "not_equals": "it is not this",
    "gt": "it is a number and greater",
    "gte": "it is a number and greater or the same",
    "lt": "it is a number and less",
    "lte": "it is a number and less or the same",
    "contains": "a text with this in it, or a list with this member",
    "startsWith": "a text that begins so",
    "endsWith": "a text that ends so",
    "in": "it is one of these",
    "and": "all of these hold",
    "or": "one of these holds",
    "not": "this does not hold",
    # criteria
    "Rule.type": "contains: a text; regex: a pattern; length: characters; schema: JSON of a schema",
    "message": "what is wrong when the rule does not hold",
    "value": "contains: what the output has to have in it, as written",
    "pattern": "regex: a regular expression in RE2's syntax, anywhere in the output",
    "max": "length: characters at most",
    # functions
    "name": "letters, digits and '_'",
    "definition": "what it stands for, in words; it is never executed",
    "parameters": "what it takes; arguments of `functionCalls` are checked against it",
    "scope": "where it is meant to be known; it is known where it is defined",
    "args": "arguments by parameter",
    "Parameter.type": "of the argument",
    "Parameter.required": "a call has to give it",
    "description": "what it is for",
    "enum": "the values that it may have",
    "default": "its value where a call gives none",
}
