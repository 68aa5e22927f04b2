import { z } from 'zod';
import { DeclaredName, maxManifestBytes, ReleaseName, Selector, Subject } from '#domain/plugins/model.ts';
import { OwnershipSnapshot } from '#domain/plugins/places/ownership-snapshot.ts';
import { Id } from '#domain/shared/ids.ts';
import { readable } from '#domain/shared/values/human-name.ts';
import { maxInteger } from '#domain/shared/values/storable.ts';
import { ResourceName } from '#domain/tenancy/model.ts';

/**
 * Requests of the plugin operations. They require expected revisions and owners, so that a command applies to the state that its caller has
 * read.
 */

const Revision = z.int().min(1).max(maxInteger);

const expected = {
  expected_revision: Revision.describe('The revision that you have read. A stale one answers 409.'),
  expected_ownership: OwnershipSnapshot,
};

const expectedInstallation = {
  expected_installation_revision: Revision.describe('The revision of the installation that you have read.'),
  expected_ownership: OwnershipSnapshot,
};

/** The body of a command that changes or ends the resource in its path. */
export const ExpectedState = z.strictObject(expected).meta({ id: 'PluginExpectedState' });

export const InstallPlugin = z
  .strictObject({
    name: ResourceName,
    organization_id: Id.optional().describe('The organization that installs it.'),
    team_id: Id.optional().describe('The team that installs it.'),
    expected_ownership: OwnershipSnapshot,
  })
  .refine(({ organization_id, team_id }) => (organization_id === undefined) !== (team_id === undefined), {
    error: 'expected either organization_id or team_id',
    path: ['organization_id'],
  })
  .meta({ id: 'InstallPlugin', oneOf: [{ required: ['organization_id'] }, { required: ['team_id'] }] });

/** Base64 needs four characters for three bytes. */
const maxEncoded = Math.ceil(maxManifestBytes / 3) * 4;

export const StageManifest = z
  .strictObject({
    release: ReleaseName,
    manifest: z
      .string()
      .max(maxEncoded, { error: `expected at most ${maxManifestBytes} bytes` })
      .optional()
      .describe(
        'The exact bytes of the manifest, as base64. Without it, only the digest becomes known: the release can be activated, and nothing of it approved.',
      ),
    digest: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/, { error: 'expected sha256: and 64 lowercase hexadecimal digits' })
      .describe('The SHA-256 digest of the bytes.'),
    ...expected,
  })
  .meta({ id: 'StagePluginManifest' });

export const ActivateRelease = z
  .strictObject({ release: ReleaseName, ...expected })
  .meta({ id: 'ActivatePluginRelease' });

const maxEntries = 200;

export const ReplaceCeiling = z
  .strictObject({
    actions: z
      .array(DeclaredName)
      .max(maxEntries)
      .refine((names) => new Set(names).size === names.length, { error: 'names an action twice' })
      .meta({ uniqueItems: true })
      .describe('The actions that may be assigned and used. An empty list approves none.'),
    executions: z
      .array(z.strictObject({ name: DeclaredName, release: ReleaseName, installation_revision: Revision }))
      .max(maxEntries)
      .refine((entries) => new Set(entries.map(({ name }) => name)).size === entries.length, {
        error: 'names an execution twice',
      })
      .meta({ uniqueItems: true })
      .describe('The executions that are approved, each for one release at one revision of the installation.'),
    expected_ceiling_revision: z
      .int()
      .min(0)
      .max(maxInteger)
      .describe('The revision of the ceiling that you have read; 0 if there is none yet. A stale one answers 409.'),
    ...expected,
  })
  .meta({ id: 'ReplacePluginCeiling' });

/** The question of a check or a review. */
export const ActionQuestion = z.strictObject({ selector: Selector }).meta({ id: 'PluginActionQuestion' });

export const AssignAction = z
  .strictObject({
    action_id: Id,
    subject: Subject,
    selector: Selector,
    expected_action_revision: Revision.describe('The revision of the action that you have read.'),
    ...expectedInstallation,
  })
  .meta({ id: 'AssignPluginAction' });

export const ApproveBackgroundPrincipal = z
  .strictObject({
    installation_id: Id,
    name: ResourceName,
    selector: Selector.describe('Where it may be assigned actions.'),
    ...expectedInstallation,
  })
  .meta({ id: 'ApprovePluginBackgroundPrincipal' });

export const CreateResource = z
  .strictObject({
    installation_id: Id,
    type: DeclaredName,
    name: ResourceName,
    key: readable(z.string().min(1).max(200)).describe(
      'Its key in the tables that the manifest names as roots, spelled as PostgreSQL writes it.',
    ),
    team_id: Id.optional(),
    project_id: Id.optional(),
    environment_id: Id.optional(),
    expected_ownership: OwnershipSnapshot,
  })
  .refine(
    (body) => [body.team_id, body.project_id, body.environment_id].filter((id) => id !== undefined).length === 1,
    { error: 'expected one of team_id, project_id and environment_id', path: ['team_id'] },
  )
  .meta({
    id: 'CreatePluginResource',
    oneOf: [{ required: ['team_id'] }, { required: ['project_id'] }, { required: ['environment_id'] }],
  });
