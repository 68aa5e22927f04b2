import { z } from 'zod';
import type { Refusal } from '#domain/shared/actions.ts';
import { Id } from '#domain/shared/ids.ts';

/** Where an action may be used: at one resource of the plugin, or at anything around resources (specification, *Plugin action rules*). */
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

/** The selector that two columns of a row hold. */
export function selectorOf({
  selectorType: type,
  selectorId: id,
}: {
  readonly selectorType: SelectorType;
  readonly selectorId: string;
}): Selector {
  return { type, id };
}

/** Who may be assigned an action. */
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

/** The type of a resource whose existence is known by a row: the column `key` of the table holds the resource's key. */
const Root = z.strictObject({
  schema: z.string().min(1).max(63),
  table: z.string().min(1).max(63),
  key: z.string().min(1).max(63),
});
export type Root = z.output<typeof Root>;

/** What a release declares. The bytes of a manifest are this as JSON. */
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

/** Whether restorations may look for roots in a schema: not in one of PostgreSQL, or in that of the service itself. */
export function isPluginSchema(name: string): boolean {
  return name.length <= 63 && name !== 'public' && !isSystemSchema(name);
}

/** Whether a schema is one of PostgreSQL itself, in which no plugin has data. */
export function isSystemSchema(name: string): boolean {
  return name === 'information_schema' || /^pg_/.test(name);
}

/** The largest manifest, in bytes. */
export const maxManifestBytes = 64 * 1024;

/** The ids of all owners of something; the zero UUID for those that it does not have. */
export interface OwnerNames {
  readonly organization_id: string;
  readonly team_id: string;
  readonly project_id: string;
  readonly environment_id: string;
}

/** Why an assignment or a background principal is not revoked; null if it can be. */
export function findRevokedRefusal(
  { revokedAt }: { readonly revokedAt: string | null },
  name: 'assignment' | 'background principal',
): Refusal | null {
  return revokedAt === null ? null : { code: 'plugin_assignment_revoked', message: `the ${name} is revoked already` };
}

/** Why nothing of a plugin is in force any more, in words. */
export const pluginRemoved = 'the plugin was removed';

/** What an assignment, a check or a receipt says no by, and in words. */
export interface Reason<Code extends string = string> {
  readonly code: Code;
  readonly message: string;
}
