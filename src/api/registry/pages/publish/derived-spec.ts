import { isObject } from '#api/web/forms/schema/plan/resolve.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { propose } from '../../proposal-operations.ts';

type Spec = Record<string, unknown>;

/** Completes the typed spec with the variables and outputs of the files. The typed spec takes precedence. */
export async function deriveSpec(visit: Visit<{ id: string }>, spec: Spec, teamId: string | null): Promise<Spec> {
  const { kind, files, git } = objectOf(spec['executor']);
  if (kind !== 'opentofu') return spec;
  const body = { team_id: teamId, ...(files !== undefined && { files }), ...(git !== undefined && { git }) };
  const { spec: proposed } = await visit.read(propose, { body });
  const variables = mergeSchemas(objectOf(proposed['variables']), objectOf(spec['variables']));
  return { ...spec, variables, outputs: { ...objectOf(proposed['outputs']), ...objectOf(spec['outputs']) } };
}

function mergeSchemas(proposed: Spec, typed: Spec): Spec {
  const own = objectOf(typed['properties']);
  const required = [
    ...namesOf(typed['required']),
    ...namesOf(proposed['required']).filter((name) => !Object.hasOwn(own, name)),
  ];
  return {
    ...proposed,
    ...typed,
    properties: { ...objectOf(proposed['properties']), ...own },
    required,
  };
}

function objectOf(value: unknown): Spec {
  return isObject(value) ? value : {};
}

function namesOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : []).filter((name) => typeof name === 'string');
}
