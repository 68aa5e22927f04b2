import { type SqlBool, sql } from 'kysely';
import { showOutputs } from '#domain/instances/secret-outputs.ts';
import { secretNamesOfNodes } from '#domain/runs/references/secret-outputs.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { findReferences, type Reference } from '../spec/references.ts';

/** The sources of the outputs of an assembly run, or of the variables of a node's run. */
export interface OutputSources {
  /** The outputs or variables as the version writes them, by name. */
  readonly written: Readonly<Record<string, JsonValue>>;
  /** The names of the outputs of each node that are secret now, by the keys of the nodes. Nodes without any are left out. */
  readonly secret: Readonly<Record<string, readonly string[]>>;
}

/** The sources for the assembly run `r`; null if it has no outputs. */
export function selectOutputSources() {
  // A key can only be spelled differently between quotes, which are escaped in the text of a JSON value. So a text with a backslash may use
  // any node.
  const isUsed = sql<SqlBool>`(strpos((av.spec -> 'outputs')::text, n.key) > 0 or strpos((av.spec -> 'outputs')::text, chr(92)) > 0)`;
  const secret = secretNamesOfNodes(sql`r.id`, { environmentId: sql`r.environment_id`, isUsed });
  return sql<OutputSources | null>`case when r.outputs <> '{}' then (
    select jsonb_build_object('written', coalesce(av.spec -> 'outputs', '{}'), 'secret', ${secret})
      from assembly_versions av where av.id = r.assembly_version_id) end`;
}

/** The outputs of an assembly run for people, with secrets masked. */
export function showAssemblyOutputs(outputs: MaskedOutputs, sources: OutputSources | null): MaskedOutputs {
  return sources ? showOutputs(outputs, secretlyMade(sources)) : outputs;
}

/** The names of the outputs or variables that were made from outputs which are secret now. */
export function secretlyMade({ written, secret }: OutputSources): string[] {
  const secrets = new Map(Object.entries(secret));
  if (secrets.size === 0) return [];
  const isSecret = (of: Reference) => of.kind === 'output' && secrets.get(of.node)?.includes(of.name) === true;
  return Object.keys(written).filter((name) => findReferences(written[name] ?? null).some(isSecret));
}
