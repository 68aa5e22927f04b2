import { randomUUID } from 'node:crypto';
import { readUntil } from '#test/support/read-until.ts';
import { makePlace, type Place } from './harness/assembly-place.ts';
import type { Installation } from './harness/installation.ts';

const endsWithinMs = 5 * 60_000;
/** The same request is sent this many times at once. */
const repetitions = 10;

const change = '[{"address":"thing","action":"update","before":{"a":1},"after":{"a":2}}]';
const step = (script: string) => [{ name: 'work', run: ['sh', '-c', `sleep 2; ${script}`] }];

/** Every phase takes long enough to be interrupted, and all may be repeated. */
const spec = {
  variables: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } } },
  retry_safe: true,
  executor: {
    kind: 'command',
    plan: step(`echo '${change}' > plan.json`),
    apply: step(`echo "{\\"a\\":\\"$COORDINATOR_VAR_A\\"}" > state.json`),
    detect: step(`echo '[]' > plan.json`),
  },
};

/**
 * Undoes the second of three applies while all workers are killed during the check, Temporal during the candidate check, and PostgreSQL during the
 * promoted run. Each step happens once, however often it is asked for, and the third change stays.
 */
export async function disruptUndo(installation: Installation): Promise<{ readonly seconds: number }> {
  const { requester, workers, temporal, postgres, violations } = installation;
  const startedAt = Date.now();
  const place = await makePlace(installation);
  const second = await deployThree(installation, place);

  const attempt = await sameAnswer(installation, `/runs/${second}/selective-undo/check`, randomUUID());
  const path = `/selective-undo/${attempt}`;
  await Promise.all(workers.map((worker) => worker.kill('SIGKILL')));
  await Promise.all(workers.map((worker) => worker.start()));
  await awaitState(installation, path, 'ready');

  await requester.call('POST', `${path}/candidate-checks`);
  await temporal.kill();
  await temporal.start();
  const { candidate } = await awaitState(installation, path, 'promotable');

  const body = { candidate_digest: candidate.digest, accepted_collateral: candidate.collateral };
  const answers = await Promise.all(
    Array.from({ length: repetitions }, () => requester.sendWithRetries('POST', `${path}/promote`, body, {})),
  );
  const promoted = answers.filter(({ status }) => status === 202).map(({ body: run }) => run.id as string);
  if (promoted.length !== 1) violations.push(`${promoted.length} of ${repetitions} promotions at the same time won`);
  await postgres.kill();
  await postgres.start();
  await checkUndone(installation, second, promoted[0] ?? '');
  return { seconds: Math.round((Date.now() - startedAt) / 1000) };
}

/** Three runs of an instance, of which the second changes `a`, and the third `b`. Returns the second. */
async function deployThree({ requester, violations }: Installation, { teamId, environmentId }: Place): Promise<string> {
  const slug = `undone-${randomUUID()}`;
  const { id } = await requester.call('POST', '/registry/templates', { name: slug, slug, team_id: teamId });
  await requester.call('POST', `/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  const ids: string[] = [];
  for (const variables of [
    { a: 1, b: 1 },
    { a: 2, b: 1 },
    { a: 2, b: 2 },
  ]) {
    const request = { template_id: id, environment_id: environmentId, instance: 'main', variables };
    const run = await requester.call('POST', '/runs', request);
    const ended = await awaitEnd(requester, run.id);
    if (ended.status !== 'succeeded') violations.push(`a run before the undo ended ${ended.status}`);
    ids.push(run.id);
  }
  return ids[1] ?? '';
}

/** Sends a request with one key many times at once; every answer must have the same id. */
async function sameAnswer({ requester, violations }: Installation, path: string, key: string): Promise<string> {
  const answers = await Promise.all(
    Array.from({ length: repetitions }, () =>
      requester.sendWithRetries('POST', path, undefined, { 'idempotency-key': key }),
    ),
  );
  const ids = [...new Set(answers.map(({ body }) => body?.id as string))];
  if (ids.length !== 1) violations.push(`one key made ${ids.length} attempts: ${ids.join(', ')}`);
  return ids[0] ?? '';
}

/** @throws Error if the attempt does not come to the state */
async function awaitState({ requester }: Installation, path: string, state: string) {
  const attempt = await readUntil(
    () => requester.call('GET', path),
    (read) => read.state === state || !['checking', 'candidate_checking'].includes(read.state),
    endsWithinMs,
  );
  if (attempt.state === state) return attempt;
  throw new Error(`the attempt is ${attempt.state} instead of ${state}: ${JSON.stringify(attempt.problem)}`);
}

function awaitEnd(requester: Installation['requester'], id: string) {
  const read = () => requester.call('GET', `/runs/${id}`);
  return readUntil(read, (run) => run.finished_at !== null, endsWithinMs);
}

async function checkUndone({ requester, query, violations }: Installation, undone: string, undo: string) {
  const run = await awaitEnd(requester, undo);
  if (run.status !== 'succeeded') violations.push(`the run that undoes ended ${run.status} (${run.status_reason})`);
  if (run.variables.a !== 1 || run.variables.b !== 2)
    violations.push(`the undo deployed other inputs than it should: ${JSON.stringify(run.variables)}`);
  const readUndone = () => requester.call('GET', `/runs/${undone}`);
  const { undone_by: undoneBy } = await readUntil(readUndone, (read) => read.undone_by === undo, 60_000);
  if (undoneBy !== undo) violations.push(`the undone run names ${undoneBy} instead of ${undo}`);
  const [counted] = await query<{ runs: number; checks: number }>(
    `select (select count(*)::int from runs where undoes = $1) as runs,
            (select count(*)::int from selective_undo_candidate_checks) as checks`,
    [undone],
  );
  if (counted?.runs !== 1 || counted.checks !== 1)
    violations.push(`an undo made ${counted?.runs} runs and ${counted?.checks} candidate checks`);
}
