import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import type { getRun } from '#api/runs/operations.ts';
import type { Visit } from '#api/web/visit/visit.ts';

/** A visit of the form for a run of a template. */
export type RunFormVisit = Visit<{ id: string }>;

/** A run from which a form is filled in. */
export type SourceRun = EncodedAnswerOf<(typeof getRun)['responses']>;
