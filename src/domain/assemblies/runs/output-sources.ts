import { sql } from 'kysely';
import type { MaskedOutputs } from '#domain/runs/model.ts';
import { secretNamesAmong, secretNamesOf, showOutputs } from '#domain/runs/references/secret-outputs.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { findReferences, type Reference } from '../spec/references.ts';

/** What the outputs of an assembly run were made of. */
interface OutputSources {
  /** By the names of the outputs, as the version writes them. */
  readonly written: Readonly<Record<string, JsonValue>>;
  /** By the keys of the nodes, the names of their outputs that are secret by now. */
  readonly secret: Readonly<Record<string, readonly string[]>>;
}

/** Of the assembly run `r`; null if it has no outputs. A node that had no run of its own lent the outputs of its instance. */
export function selectOutputSources() {
  const ofRun = secretNamesAmong(sql`ran.outputs`, sql`ran.id`);
  const ofInstance = secretNamesOf(sql`coalesce(i.outputs, '{}')`, sql`i.deployed_run_id`);
  const secret = sql`case when ran.id is not null then ${ofRun} else ${ofInstance} end`;
  return sql<OutputSources | null>`case when r.outputs <> '{}' then (
    select jsonb_build_object('written', coalesce(av.spec -> 'outputs', '{}'), 'secret', (
      select coalesce(jsonb_object_agg(n.key, to_jsonb(${secret})), '{}') from assembly_nodes n
        left join runs ran on ran.id = n.run_id
        left join instances i on ran.id is null and i.environment_id = r.environment_id and i.name = n.instance and i.deleted_at is null
        where n.assembly_run_id = r.id))
      from assembly_versions av where av.id = r.assembly_version_id) end`;
}

/** The outputs of an assembly run as people are shown them. */
export function showAssemblyOutputs(outputs: MaskedOutputs, sources: OutputSources | null): MaskedOutputs {
  if (!sources) return outputs;
  const secret = new Map(Object.entries(sources.secret));
  const isSecret = (of: Reference) => of.kind === 'output' && secret.get(of.node)?.includes(of.name) === true;
  const names = Object.entries(sources.written).filter(([, value]) => findReferences(value).some(isSecret));
  return showOutputs(
    outputs,
    names.map(([name]) => name),
  );
}
