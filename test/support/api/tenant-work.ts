import type { Operation } from '#api/pipeline/operation.ts';
import { newId } from '#domain/shared/ids.ts';
import { type Person, publish, sayHello } from '../access/people.ts';
import { addFinding, addMonitor, type Execute } from '../drift/drift-rows.ts';
import type { TestApi } from './http-api.ts';
import { needsPart } from './tenant-parts.ts';

/** Adds a template with a run, and an assembly with a run if the operation needs it. */
export async function addWork(
  api: Pick<TestApi, 'url' | 'orm'>,
  root: Person,
  { team, environment }: { team: string; environment: string },
  operation: Operation | undefined,
) {
  const template = await publish(root.caller, sayHello, team);
  const addRun = async () => {
    const { body: run } = await root.caller.post('/runs', { template_id: template, environment_id: environment });
    const { body: comment } = await root.caller.post(`/runs/${run.id}/comments`, { text: 'Seen.' });
    const selectiveUndo = await addUndoAttempt(api, run);
    return { run: run.id as string, instance: run.instance_id as string, comment: comment.id as string, selectiveUndo };
  };
  const addAssembly = async () => {
    const assembly = await publishAssembly(root, team, template);
    return { assembly, assemblyRun: await addAssemblyRun(api, root, { assembly, environment }) };
  };
  const none = { assembly: newId(), assemblyRun: newId() };
  const [run, assembly] = await Promise.all([addRun(), needsPart(operation, 'assembly') ? addAssembly() : none]);
  const drift = await addDrift(api, { team, environment, ...run });
  return { template, ...run, ...assembly, ...drift };
}

/** Ids in place of `addWork`, of things that do not exist. */
export function noWork(): Awaited<ReturnType<typeof addWork>> {
  const run = { run: newId(), instance: newId(), comment: newId(), selectiveUndo: newId() };
  const drift = { monitor: newId(), finding: newId(), evidence: newId() };
  return { template: newId(), assembly: newId(), assemblyRun: newId(), ...run, ...drift };
}

/** Adds a monitor of an instance, and a finding of it. */
async function addDrift(
  { orm }: Pick<TestApi, 'orm'>,
  { run, ...place }: { team: string; environment: string; instance: string; run: string },
) {
  const em = orm.em.fork();
  const execute: Execute = (sql, values) => em.execute(sql, values);
  const monitor = await addMonitor(execute, place);
  return { monitor, ...(await addFinding(execute, { ...place, monitor, run })) };
}

/** Adds an attempt at undoing a run, which something is in the way of. */
async function addUndoAttempt(
  { orm }: Pick<TestApi, 'orm'>,
  { id: run, instance_id: instance }: { id: string; instance_id: string },
): Promise<string> {
  const id = newId();
  await orm.em.fork().execute(
    `insert into selective_undo_attempts (id, run_id, instance_id, state, verdicts, changes, state_serial, requested_by_id,
        requested_by_type, requested_by_name, created_at) values (?, ?, ?, 'blocked', '[]', '[]', 0, ?, 'user', 'Ana', now())`,
    [id, run, instance, newId()],
  );
  return id;
}

/** Adds an assembly with a draft of one node and a version. */
async function publishAssembly({ caller }: Person, team: string, template: string): Promise<string> {
  const { body: assembly } = await caller.post('/assemblies', { team_id: team, name: `Landscape ${newId()}` });
  await caller.send('PUT', `/assemblies/${assembly.id}/draft`, { spec: { nodes: { hello: { template } } } });
  const { status, text } = await caller.post(`/assemblies/${assembly.id}/publish`, { version: '1.0.0' });
  if (status !== 201) throw new Error(`the publication of an assembly answered ${status}: ${text}`);
  return assembly.id;
}

/** Adds a run of an assembly that has failed. */
async function addAssemblyRun(
  { orm }: Pick<TestApi, 'orm'>,
  { caller }: Person,
  { assembly, environment }: { assembly: string; environment: string },
): Promise<string> {
  const { body: run } = await caller.post(`/assemblies/${assembly}/runs`, { environment_id: environment });
  const failed = `update assembly_runs set status = 'failed', status_reason = 'nodes_failed', finished_at = now() where id = ?`;
  await orm.em.fork().execute(failed, [run.id]);
  return run.id;
}
