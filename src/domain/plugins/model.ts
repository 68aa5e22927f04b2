import { z } from 'zod';
import type { Refusal } from '#domain/shared/actions.ts';
import { Id } from '#domain/shared/ids.ts';

/**
 * Where an action may be used: at one resource of the plugin, or at a place that contains resources (specification, *Plugin action rules*).
 */
export const selectorTypes = [
  'resource',
  'project',
  'environment',
  'team',
  'organization',
  'organization_descendants',
] as const;
export type SelectorType = (typeof selectorTypes)[number];

export const Selector = z.strictObject({ type: z.enum(selectorTypes), id: Id }).meta({
  id: 'PluginSelector',
  description:
    'One resource of the plugin, or an environment, a project, a team or an organization with what is in it. `organization` is the organization alone, `organization_descendants` also everything in it.',
});
export type Selector = z.output<typeof Selector>;

/** The selector in two columns of a row. */
export function selectorOf({
  selectorType: type,
  selectorId: id,
}: {
  readonly selectorType: SelectorType;
  readonly selectorId: string;
}): Selector {
  return { type, id };
}

/** The types of subjects to which an action can be assigned. */
export const subjectTypes = ['user', 'service_account', 'background_principal'] as const;
export type SubjectType = (typeof subjectTypes)[number];

export const Subject = z.strictObject({ type: z.enum(subjectTypes), id: Id }).meta({ id: 'PluginSubject' });
export type Subject = z.output<typeof Subject>;

/** The name that a publisher gives a release, such as a semantic version. */
export const ReleaseName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/, {
  error: 'expected 1-100 letters, digits and . _ + -, beginning with a letter or a digit, such as "1.4.0"',
});

/** The name of an action, an execution, an effect or a type of resource. */
export const DeclaredName = z.string().regex(/^[a-z][a-z0-9_.:-]{0,99}$/, {
  error: 'expected 1-100 lowercase letters, digits and _ . : -, beginning with a letter, such as "zone.sync"',
});

/** A root of a type of resource: a resource exists if the table has a row whose column `key` contains the resource's key. */
const Root = z.strictObject({
  schema: z.string().min(1).max(63),
  table: z.string().min(1).max(63),
  key: z.string().min(1).max(63),
});
export type Root = z.output<typeof Root>;

/** The declarations of a release. The bytes of a manifest are their JSON. */
export const Manifest = z.strictObject({
  name: z.string().trim().min(1).max(100),
  release: ReleaseName,
  actions: z
    .array(
      z.strictObject({
        name: DeclaredName,
        selectors: z.array(z.enum(selectorTypes)).min(1).max(selectorTypes.length),
        effects: z.array(DeclaredName).max(50),
      }),
    )
    .max(200),
  executions: z.array(z.strictObject({ name: DeclaredName, action: DeclaredName })).max(200),
  resources: z.array(z.strictObject({ type: DeclaredName, roots: z.array(Root).max(20) })).max(100),
});
export type Manifest = z.output<typeof Manifest>;

/** Whether restorations may look for roots in a schema: not in a schema of PostgreSQL, nor in that of the service itself. */
export function isPluginSchema(name: string): boolean {
  return name.length <= 63 && name !== 'public' && !isSystemSchema(name);
}

/** Whether a schema is one of PostgreSQL itself, in which no plugin has data. */
export function isSystemSchema(name: string): boolean {
  return name === 'information_schema' || /^pg_/.test(name);
}

/** The largest manifest, in bytes. */
export const maxManifestBytes = 64 * 1024;

/** The ids of all owners of something; the zero UUID for missing ones. */
export interface OwnerNames {
  readonly organization_id: string;
  readonly team_id: string;
  readonly project_id: string;
  readonly environment_id: string;
}

/** Why an assignment or a background principal cannot be revoked; null if it can be. */
export function findRevokedRefusal(
  { revokedAt }: { readonly revokedAt: string | null },
  name: 'assignment' | 'background principal',
): Refusal | null {
  return revokedAt === null ? null : { code: 'plugin_assignment_revoked', message: `the ${name} is revoked already` };
}

/** The reason why nothing of a removed plugin is in force, in words. */
export const pluginRemoved = 'the plugin was removed';

/** The reason of an assignment, a check or a receipt: a code, and the same in words. */
export interface Reason<Code extends string = string> {
  readonly code: Code;
  readonly message: string;
}
