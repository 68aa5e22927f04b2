import { JsonError } from '#domain/instances/state-file/json-cursor.ts';
import { readStateFile, type StateFile } from '#domain/instances/state-file/state-file.ts';
import { findUnstorable, findUnstorableText, isStorableInteger } from '#domain/shared/values/storable.ts';
import { isStorableTime } from '#domain/shared/values/times.ts';
import { type FailureReason, statusReasons } from '#domain/shared/vocabulary/run-reasons.ts';
import { type AttemptOutcome, type AttemptPhase, logPhases, logStreams } from '#domain/shared/vocabulary/runs.ts';
import { findDiagnosticsProblem } from '../diagnostics/model.ts';
import type { Run, RunAttempt } from '../entity.ts';
import { AttemptWriteRefused } from '../errors.ts';
import { findSectionsProblem } from '../plans/check-sections.ts';
import { changeActions, completeSummary, maxPaths, type ResourceChange } from '../plans/model.ts';
import type { AttemptResult, AttemptState, LogChunk } from './writes.ts';

/**
 * The checks of everything that an attempt writes. Its worker, its executor and its template are not trusted: what cannot be
 * stored is refused, with a reason that the run shows.
 */

/** The number of a write is part of a file name, where six digits keep the names in order. */
const maxWrites = 999_999;
const maxStateBytes = 256 * 1024 * 1024;
const maxChunkBytes = 4 * 1024 * 1024;
const maxDebugLogBytes = 16 * 1024 * 1024;
const maxArtifactBytes = 512 * 1024 * 1024;
const maxChanges = 64 * 1024;
export const maxAddressLength = 4096;
const maxWordLength = 255;

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

/** How an attempt may end, by its phase. */
const outcomesOf: Record<AttemptPhase, readonly AttemptOutcome[]> = {
  planning: ['planned', 'unchanged', 'failed', 'canceled', 'timed_out', 'handed_back'],
  applying: ['applied', 'failed', 'canceled', 'timed_out'],
};

/** Only applying or refreshing produces states and outputs; planning does not. @throws AttemptWriteRefused */
export function refuseStateOfPlanning(run: Run, attempt: RunAttempt): void {
  if (attempt.phase === 'applying' && run.isWriter()) return;
  throw refusedState(`a plan may not store state: the operation is ${run.operation} and the phase is ${attempt.phase}`);
}

/** @throws AttemptWriteRefused if the number of a write is not valid */
export function checkWriteNumber(write: unknown): void {
  if (isStorableInteger(write, 1) && Number(write) <= maxWrites) return;
  throw refusedState(`the number of a write must be an integer from 1 to ${maxWrites}`);
}

/** Reads a state. @throws AttemptWriteRefused if it cannot be stored, or if no tool could read it */
export function checkWrittenState({ write, content, maskedAddresses = {} }: AttemptState): StateFile {
  checkWriteNumber(write);
  if (content.length > maxStateBytes) throw refusedState(`the state has more than ${maxStateBytes} bytes`);
  const problem = findUnstorable(maskedAddresses);
  if (problem) throw refusedState(`the list of its masked addresses ${problem}`);
  try {
    return readStateFile(content, maskedAddresses);
  } catch (error) {
    if (error instanceof JsonError) throw refusedState(`the state is not JSON in UTF-8: ${error.message}`);
    throw error;
  }
}

function isOneOf(values: readonly string[], value: string): boolean {
  return values.includes(value);
}

/** @throws AttemptWriteRefused if a chunk of log cannot be stored */
export function checkLogChunk(chunk: LogChunk): void {
  const { sequence, firstLine, lines, content, checksum, time, phase, stream } = chunk;
  if (!isStorableInteger(sequence, 1)) throw refusedLog('its sequence must be an integer from 1');
  if (!isStorableInteger(firstLine, 0) || !isStorableInteger(lines, 0))
    throw refusedLog('its first line and number of lines must be integers from 0');
  if (!isOneOf(logPhases, phase)) throw refusedLog(`its phase must be one of ${logPhases.join(', ')}`);
  if (!isOneOf(logStreams, stream)) throw refusedLog(`its stream must be one of ${logStreams.join(', ')}`);
  if (!timestamp.test(time) || !isStorableTime(time)) throw refusedLog('its time must be in RFC 3339, in UTC');
  if (!/^[\x21-\x7e]{1,80}$/.test(checksum)) throw refusedLog('its checksum must be 1-80 visible characters');
  if (content.length > maxChunkBytes) throw refusedLog(`it has more than ${maxChunkBytes} bytes`);
}

/** @throws AttemptWriteRefused if a result does not fit the phase of its attempt, or cannot be stored */
export function checkResult(run: Run, attempt: RunAttempt, result: AttemptResult): void {
  const { outcome, reason, tool, plan, outputs, resourceCount, diagnostics } = result;
  if (!outcomesOf[attempt.phase].includes(outcome))
    throw refusedResult('executor_failed', `an attempt at ${attempt.phase} cannot end as ${outcome}`);
  if (reason !== null && !Object.hasOwn(statusReasons, reason))
    throw refusedResult('executor_failed', 'its reason is not known');
  if (tool) checkTool(tool);
  if (outcome === 'planned' && !plan)
    throw refusedResult('plan_missing', 'it says that there are changes, and has no plan');
  if (plan) checkPlan(attempt, plan);
  if (outputs) checkOutputs(run, attempt, { outcome, outputs });
  if (result.debugLog && result.debugLog.length > maxDebugLogBytes)
    throw refusedResult('executor_failed', `its debug log has more than ${maxDebugLogBytes} bytes`);
  const problem = diagnostics && findDiagnosticsProblem(diagnostics);
  if (problem) throw refusedResult('executor_failed', `the list of its diagnostics ${problem}`);
  if (resourceCount !== undefined && !isStorableInteger(resourceCount, 0))
    throw refusedResult('outputs_invalid', 'the number of resources must be an integer from 0');
}

function checkTool({ name, version }: { name: string; version: string }): void {
  const problem = findUnstorableText(name, maxWordLength) ?? findUnstorableText(version, maxWordLength);
  if (problem) throw refusedResult('executor_failed', `the name or version of its tool ${problem}`);
}

function checkPlan({ phase }: RunAttempt, plan: NonNullable<AttemptResult['plan']>): void {
  const refuse = (message: string) => refusedResult('plan_invalid', message);
  if (phase !== 'planning') throw refuse('an apply may not have a plan');
  const { changes, sections, summary, executorDigest, artifact } = plan;
  if (!Array.isArray(changes) || changes.length > maxChanges) throw refuse(`it has more than ${maxChanges} changes`);
  if (changes.some((change) => !isChange(change)))
    throw refuse(`a change has an address that is not of 1-${maxAddressLength} characters, or an unknown action`);
  if (changes.some((change) => !hasFittingDetails(change)))
    throw refuse(
      `a change has more than ${maxPaths} paths in a list, or a name of more than ${maxAddressLength} characters`,
    );
  const problem = findUnstorable(changes);
  if (problem) throw refuse(`its list of changes ${problem}`);
  const other = findSectionsProblem(sections);
  if (other) throw refuse(other);
  if (!Object.values(completeSummary(summary)).every((count) => isStorableInteger(count, 0)))
    throw refuse('the counts of its summary must be integers from 0');
  if (findUnstorableText(executorDigest, maxWordLength))
    throw refuse(`its digest is longer than ${maxWordLength} characters, or cannot be stored`);
  if (artifact.length > maxArtifactBytes) throw refuse(`its artifact has more than ${maxArtifactBytes} bytes`);
}

function isChange({ address, action }: ResourceChange): boolean {
  return findUnstorableText(address, maxAddressLength) === null && address !== '' && changeActions.includes(action);
}

/** Whether the members of a change other than its values can be stored. */
function hasFittingDetails({ previousAddress, imported, actionReason, type, ...lists }: ResourceChange): boolean {
  const names = [previousAddress, imported?.id ?? undefined, actionReason, type];
  const paths = [lists.replacePaths, lists.unknownPaths, lists.sensitivePaths];
  const secrets = [...(lists.sensitivePaths ?? []), ...(lists.otherSecrets ? [lists.otherSecrets] : [])];
  return (
    names.every((name) => name === undefined || findUnstorableText(name, maxAddressLength) === null) &&
    paths.every((list) => list === undefined || (Array.isArray(list) && list.length <= maxPaths)) &&
    secrets.every(({ digest }) => digest === undefined || digest.length <= maxWordLength)
  );
}

function checkOutputs(
  run: Run,
  attempt: RunAttempt,
  { outcome, outputs = {} }: Pick<AttemptResult, 'outcome' | 'outputs'>,
): void {
  const readsLatest =
    attempt.phase === 'applying'
      ? run.isWriter()
      : (run.operation === 'apply' || run.operation === 'refresh') && outcome === 'unchanged';
  if (!readsLatest) throw refusedResult('outputs_invalid', 'a plan may not have outputs');
  const problem = findUnstorable(outputs);
  if (problem) throw refusedResult('outputs_invalid', `the set of outputs ${problem}`);
  if (Object.values(outputs).some((output) => typeof output?.sensitive !== 'boolean'))
    throw refusedResult('outputs_invalid', 'an output does not say whether it is sensitive');
}

function refusedState(message: string): AttemptWriteRefused {
  return new AttemptWriteRefused('state_refused', `a state was refused: ${message}`);
}

function refusedLog(message: string): AttemptWriteRefused {
  return new AttemptWriteRefused('logs_not_saved', `a chunk of log was refused: ${message}`);
}

function refusedResult(reason: FailureReason, message: string): AttemptWriteRefused {
  return new AttemptWriteRefused(reason, `a result was refused: ${message}`);
}
