import type { Em } from '#database/database.ts';
import {
  comparableVariable,
  openInputsToRepeat,
  type RunInputs,
  secretHashOf,
} from '#domain/runs/admission/inputs/inputs.ts';
import { withSecretGivers } from '#domain/runs/admission/inputs/secret-givers.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { History } from '../change/history.ts';
import { type Leaves, leavesOf, type Secrets } from '../change/leaves.ts';
import type { Problem } from '../model.ts';
import { type DeploymentRow, readDeploymentsSince, sizeOfDeploymentsSince } from './deployments-store.ts';

/** The maximum number of runs that an attempt compares, since it opens each of them. */
const maxDeployments = 1000;

/** The maximum bytes of sealed inputs that an attempt opens, since all of them are in memory at once. */
const maxBytes = 32 * 1024 * 1024;

/** A run that changed the instance, with the inputs with which the instance was then deployed. */
export interface Deployment {
  readonly row: Omit<DeploymentRow, 'sealedInputs'>;
  readonly leaves: Leaves;
  /** Names of variables that are secret. */
  readonly sensitive: readonly string[];
  /** The inputs of the run; null for a destroy. */
  readonly inputs: RunInputs | null;
}

/** The runs that changed an instance, from the one before the run that is undone. */
export interface Deployments {
  readonly runs: readonly Deployment[];
  readonly history: History;
  /** How their secrets are compared. */
  readonly secrets: Secrets;
}

/** Reads and opens the runs that changed an instance. Returns a problem if the inputs of one were deleted, or if there are too many. */
export async function readDeployments(
  em: Em,
  keyRing: KeyRing,
  run: { instanceId: string; instancePosition: number },
): Promise<Deployments | Problem> {
  if ((await sizeOfDeploymentsSince(em, run)) > maxBytes) return tooMuch;
  const rows = await readDeploymentsSince(em, run, maxDeployments + 1);
  if (rows.length > maxDeployments) return tooMany;
  const gone = rows.find((row) => row.operation !== 'destroy' && row.sealedInputs.length === 0);
  if (gone) return dataGone(gone.id);
  const opened: Opened[] = [];
  // One after the other, because opening a run of an earlier release takes a query.
  for (const row of rows) opened.push(await open(em, keyRing, row));
  const names = new Set(opened.flatMap(({ inputs }) => inputs?.sensitive ?? []));
  const secrets = { names, hash: secretHashOf(keyRing, run.instanceId) };
  const runs = opened.map((each) => flatten(each, secrets));
  const history = new History(
    runs.map(({ row, leaves, inputs }) => ({ id: row.id, leaves, undoes: row.undoes, given: givenNames(inputs) })),
  );
  return { runs, history, secrets };
}

type Opened = Pick<Deployment, 'row' | 'inputs'>;

/** Opens the inputs of a run; a destroy has none, because nothing is deployed after it. */
async function open(em: Em, keyRing: KeyRing, { sealedInputs, ...row }: DeploymentRow): Promise<Opened> {
  if (row.operation === 'destroy') return { row, inputs: null };
  return { row, inputs: await withSecretGivers(em, row.id, openInputsToRepeat(keyRing, row.id, sealedInputs)) };
}

function flatten({ row, inputs }: Opened, secrets: Secrets): Deployment {
  if (inputs === null) return { row, leaves: new Map(), sensitive: [], inputs };
  return { row, leaves: leavesOfRun(row.versionId, inputs, secrets), sensitive: inputs.sensitive, inputs };
}

/** The names of the variables that a run got from the environment or a variable set. */
export function givenNames(inputs: RunInputs | null): ReadonlySet<string> {
  return new Set(Object.keys(inputs?.sources ?? {}));
}

/** The leaves of a run. The version is identified by its id, because two templates may have versions with the same number. */
function leavesOfRun(versionId: string, { variables, environment }: RunInputs, secrets: Secrets): Leaves {
  const values = environment.map((variable) => [variable.name, comparableVariable(variable, secrets.hash)] as const);
  return leavesOf({ version: versionId, variables, environment: Object.fromEntries(values) }, secrets);
}

export function isProblem(found: object): found is Problem {
  return 'code' in found;
}

const tooMany: Problem = {
  code: 'too_many_runs',
  message: `more than ${maxDeployments} runs have changed the instance since: apply the values that you want in a new run`,
  runId: null,
};

const tooMuch: Problem = {
  code: 'too_many_runs',
  message: `the runs that have changed the instance since have more than ${maxBytes / 1024 / 1024} MiB of inputs together: apply the values that you want in a new run`,
  runId: null,
};

export function dataGone(runId: string): Problem {
  const message = `the inputs or the plan of the run ${runId} are no longer kept, so nothing can be compared with it: apply the values that you want in a new run`;
  return { code: 'data_gone', message, runId };
}
