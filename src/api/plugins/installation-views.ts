import { z } from 'zod';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { isCurrent, isPinnedToActive } from '#domain/plugins/ceilings/model.ts';
import type { CeilingDetails } from '#domain/plugins/ceilings/store.ts';
import type { InstallationDetails } from '#domain/plugins/installations/store.ts';
import type { ReleaseDetails } from '#domain/plugins/manifests/store.ts';
import { installationActions } from './actions.ts';
import { ownedParts } from './views.ts';

export const ListedInstallationView = z
  .object({
    id: AnswerId,
    name: z.string(),
    organization_id: AnswerId.nullable().describe('The organization that installed it; null if a team did.'),
    team_id: AnswerId.nullable().describe('The team that installed it; null if an organization did.'),
    active_release: z.string().nullable().describe('Null: no release was activated yet.'),
    revision: z.int().describe('Raised by each activation, and by the removal.'),
    created_at: Time,
    deleted_at: Time.nullable().describe('When the plugin was removed: nothing of it is in force any more.'),
    deleted_by: AnswerId.nullable(),
    ...ownedParts,
  })
  .meta({ id: 'ListedPluginInstallation' });

export const InstallationView = z
  .object({ ...ListedInstallationView.shape, actions: installationActions.view })
  .meta({ id: 'PluginInstallation' });

export function viewInstallation(installation: InstallationDetails): z.input<typeof ListedInstallationView> {
  return answerOf(ListedInstallationView.shape, installation);
}

export const ReleaseView = z
  .object({
    release: z.string(),
    digest: z.string(),
    manifest: z.string().nullable().describe('Its exact bytes as base64. Null: only the digest is known.'),
    staged_at: Time,
  })
  .meta({ id: 'PluginRelease' });

export function viewRelease({ release, digest, manifest, stagedAt }: ReleaseDetails): z.input<typeof ReleaseView> {
  return { release, digest, manifest: manifest && Buffer.from(manifest).toString('base64'), staged_at: stagedAt };
}

export const CeilingView = z
  .object({
    installation_id: AnswerId,
    actions: z.array(z.string()),
    executions: z
      .array(
        z.object({
          name: z.string(),
          release: z.string(),
          installation_revision: z.int(),
          in_force: z.boolean().describe('False: it is pinned to a release or revision that is no longer active.'),
        }),
      )
      .describe('The executions, each pinned to what was active when it was approved.'),
    release: z.string().nullable().describe('The release that it was set for; null: no ceiling was set.'),
    installation_revision: z.int().nullable().describe('The revision of the installation that it was set for.'),
    current: z.boolean().describe('False: it was set for another release or revision, and approves nothing now.'),
    set_at: Time.nullable(),
    set_by: AnswerId.nullable().describe('Who has approved it.'),
    revision: z.int().describe('0: no ceiling was set.'),
  })
  .meta({ id: 'PluginCeiling' });

/** The ceiling of an installation. If it has none, nothing is approved. */
export function viewCeiling(
  installation: InstallationDetails,
  ceiling: CeilingDetails | undefined,
): z.input<typeof CeilingView> {
  return {
    installation_id: installation.id,
    actions: ceiling?.actions.map(({ name }) => name) ?? [],
    executions:
      ceiling?.executions.map((entry) => ({ ...entry, in_force: isPinnedToActive(entry, installation) })) ?? [],
    release: ceiling?.release ?? null,
    installation_revision: ceiling?.installationRevision ?? null,
    current: ceiling !== undefined && isCurrent(ceiling, installation),
    set_at: ceiling?.setAt ?? null,
    set_by: ceiling?.setBy ?? null,
    revision: ceiling?.revision ?? 0,
  };
}
