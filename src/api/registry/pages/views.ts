import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import type { listAllRuns } from '#api/runs/lists/list-operations.ts';
import type { get, list } from '../template-operations.ts';
import type { check, get as getVersion, list as listVersions } from '../version-operations.ts';

/** A template as the API shows it to the visitor. */
export type ShownTemplate = EncodedAnswerOf<(typeof get)['responses']>;

/** A template of a list. */
export type ListedTemplate = EncodedAnswerOf<(typeof list)['responses']>['templates'][number];

/** A version with its spec. */
export type ShownVersion = EncodedAnswerOf<(typeof getVersion)['responses']>;

/** A version of a list. */
export type ListedVersion = EncodedAnswerOf<(typeof listVersions)['responses']>['versions'][number];

/** A run of a list. */
export type ListedRun = EncodedAnswerOf<(typeof listAllRuns)['responses']>['runs'][number];

/** The result of checking a draft. */
export type ShownCheck = EncodedAnswerOf<(typeof check)['responses']>;
