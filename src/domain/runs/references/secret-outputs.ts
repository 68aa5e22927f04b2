import { type Expression, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { isSecretByVersions, secretNamesAmong, secretNamesOf } from '#domain/instances/secret-outputs.ts';
import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import type { RunInputs } from '../admission/inputs/inputs.ts';
import { dataSourceOf, type RemoteStates, type SealedRead } from './model.ts';

/** Finds values that runs read from outputs before these became secret. */

/**
 * The variables of a run that contain outputs which are secret now. The instance, its present version, or the version of the run that
 * produced an output may declare it secret.
 */
export function secretVariablesOf(reads: Expression<unknown>) {
  const isSecret = (runId: Expression<unknown>) => isSecretByVersions(runId, sql`r.output`);
  return sql<string[]>`array(
    select distinct r.variable from jsonb_to_recordset(${reads}) as r(variable text, output text, "instanceId" uuid, "runId" uuid)
      left join instances i on i.id = r."instanceId"
      where i.outputs -> r.output ->> 'sensitive' = 'true' or ${isSecret(sql`i.deployed_run_id`)} or ${isSecret(sql`r."runId"`)})`;
}

/**
 * The names of the secret outputs of nodes of an assembly run, by their keys. Nodes without any are left out. A node without a run of its
 * own has the outputs of its instance.
 * @param isUsed the condition that the node `n` counts; an assembly run may have a thousand nodes
 */
export function secretNamesOfNodes(
  assemblyRunId: Expression<unknown>,
  { environmentId, isUsed }: { readonly environmentId: Expression<unknown>; readonly isUsed: Expression<SqlBool> },
) {
  const ofRun = secretNamesAmong('ran');
  const ofInstance = secretNamesOf(sql`coalesce(i.outputs, '{}')`, sql`i.deployed_run_id`);
  const secret = sql`case when ran.id is not null then ${ofRun} else ${ofInstance} end`;
  // `offset 0` lets PostgreSQL look up the names once instead of twice.
  return sql<Record<string, readonly string[]>>`(
    select coalesce(jsonb_object_agg(node.key, to_jsonb(node.secret)), '{}') from (
      select n.key, ${secret} as secret from assembly_nodes n
        left join runs ran on ran.id = n.run_id
        left join instances i on ran.id is null and i.environment_id = ${environmentId} and i.name = n.instance and i.deleted_at is null
        where n.assembly_run_id = ${assemblyRunId} and ${isUsed} offset 0) node
      where node.secret <> '{}')`;
}

/** Marks as secret the inputs of a run that came from outputs which have become secret since. */
export async function raiseSecrets(em: Em, inputs: RunInputs): Promise<RunInputs> {
  const { reads = [], remoteStates } = inputs;
  if (reads.length === 0) return inputs;
  const secret = await findSecrets(em, [...new Set(reads.map(({ instanceId }) => instanceId))]);
  const namesOf = ({ instanceId }: SealedRead) => secret.get(instanceId) ?? [];
  const isSecret = (read: SealedRead) =>
    read.sensitive || (dataSourceOf(read) === null ? namesOf(read).includes(read.output) : namesOf(read).length > 0);
  const raised = reads.map((read) => (isSecret(read) ? { ...read, sensitive: true } : read));
  const variables = raised
    .filter(({ variable, sensitive }) => sensitive && Object.hasOwn(inputs.variables, variable))
    .map(({ variable }) => variable);
  return {
    ...inputs,
    sensitive: [...new Set([...inputs.sensitive, ...variables])],
    reads: raised,
    ...(remoteStates && { remoteStates: raiseStates(remoteStates, raised, namesOf) }),
  };
}

/** The variables that contain outputs which are secret now. */
export async function findSecretVariables(em: Em, reads: readonly SealedRead[]): Promise<string[]> {
  if (reads.length === 0) return [];
  const secret = await findSecrets(em, [...new Set(reads.map(({ instanceId }) => instanceId))]);
  return reads.flatMap(({ variable, instanceId, output }) =>
    secret.get(instanceId)?.includes(output) ? variable : [],
  );
}

async function findSecrets(em: Em, ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db(em)
    .selectFrom('instances as i')
    .where('i.id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .select((eb) => ['i.id', secretNamesOf(eb.ref('i.outputs'), eb.ref('i.deployedRunId')).as('names')])
    .execute();
  return new Map(rows.map(({ id, names }) => [id, names]));
}

/** Marks outputs as secret in the states for data sources, which record for each output whether it is secret. */
function raiseStates(
  states: RemoteStates,
  reads: readonly SealedRead[],
  namesOf: (read: SealedRead) => readonly string[],
): RemoteStates {
  const entries = Object.entries(states).map(([name, text]) => {
    const read = reads.find((each) => dataSourceOf(each) === name);
    const secret = read ? namesOf(read) : [];
    return [name, secret.length === 0 ? text : JSON.stringify(raiseState(parseExactJson(text), secret))] as const;
  });
  return Object.fromEntries(entries);
}

function raiseState(state: JsonValue, secret: readonly string[]): JsonValue {
  const outputs = isJsonObject(state) ? state['outputs'] : undefined;
  if (!isJsonObject(state) || !isJsonObject(outputs)) return state;
  const raised = Object.entries(outputs).map(([name, output]) => [
    name,
    isJsonObject(output) && secret.includes(name) ? { ...output, sensitive: true } : output,
  ]);
  return { ...state, outputs: Object.fromEntries(raised) };
}
