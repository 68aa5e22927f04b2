import { mergeParts, type RecordOf } from './areas.ts';

type ErrorCodes = RecordOf<'errorCodes'>;

/**
 * The error codes, for programs: a code never changes, while its message may. Every error has one. docs/errors.md lists them for clients,
 * and a test keeps that page complete.
 */
export const errorCodes: ErrorCodes = mergeParts('errorCodes');

export type ErrorCode = keyof ErrorCodes;

/** The codes of rules: every code but the general `conflict` and `unprocessable`. */
export type RuleCode = Exclude<ErrorCode, 'conflict' | 'unprocessable'>;
