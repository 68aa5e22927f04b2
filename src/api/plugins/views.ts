import { z } from 'zod';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import type { ActionDetails } from '#domain/plugins/assignments/action-store.ts';
import { ends, findEnd } from '#domain/plugins/assignments/basis.ts';
import type { GrantWithStanding } from '#domain/plugins/assignments/standing-store.ts';
import {
  type BackgroundDetails,
  backgroundEnds,
  backgroundStates,
  findBackgroundEnd,
} from '#domain/plugins/background/store.ts';
import { isCurrent, isInForce } from '#domain/plugins/ceilings/replace.ts';
import type { CeilingDetails } from '#domain/plugins/ceilings/store.ts';
import type { InstallationDetails } from '#domain/plugins/installations/store.ts';
import type { ReleaseDetails } from '#domain/plugins/manifests/store.ts';
import { Selector, Subject, selectorTypes } from '#domain/plugins/model.ts';
import { OwnershipSnapshot, snapshotOf } from '#domain/plugins/places/ownership-snapshot.ts';
import type { Place } from '#domain/plugins/places/place-store.ts';
import { backgroundActions, grantActions } from './actions.ts';

/** The answer of every plugin command (specification, *Plugin authority*, rule 2). */
export const PluginReceipt = z
  .object({
    id: AnswerId,
    revision: z.int(),
    state: z.enum(['staged', 'revoked', 'deleted']).optional(),
    audit_record_id: AnswerId,
  })
  .meta({ id: 'PluginReceipt' });

/** The schema of a reason. `messages` has the possible codes, and the document explains each of them. */
export function reasonOf<Code extends string>(messages: Readonly<Record<Code, string>>) {
  return z.object({ code: codeOf(messages), message: z.string() });
}

function codeOf<Code extends string>(messages: Readonly<Record<Code, string>>) {
  const codes = Object.keys(messages) as [Code, ...Code[]];
  return z.enum(codes).describe(codes.map((code) => `\`${code}\`: ${messages[code]}.`).join(' '));
}

const ownedParts = { ownership: OwnershipSnapshot.describe('For `expected_ownership`.') };

export const ListedInstallationView = z
  .object({
    id: AnswerId,
    name: z.string(),
    organization_id: AnswerId.nullable().describe('The organization that installed it; null if a team did.'),
    team_id: AnswerId.nullable().describe('The team that installed it; null if an organization did.'),
    active_release: z.string().nullable().describe('Null: no release was activated yet.'),
    revision: z.int().describe('Raised by each activation.'),
    created_at: Time,
  })
  .meta({ id: 'ListedPluginInstallation' });

export const InstallationView = z
  .object({ ...ListedInstallationView.shape, ...ownedParts })
  .meta({ id: 'PluginInstallation' });

export function viewInstallation(installation: InstallationDetails): z.input<typeof ListedInstallationView> {
  const { id, name, organizationId, teamId, activeRelease, revision, createdAt } = installation;
  return {
    id,
    name,
    organization_id: organizationId,
    team_id: teamId,
    active_release: activeRelease,
    revision,
    created_at: createdAt,
  };
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

export const ActionView = z
  .object({
    id: AnswerId,
    installation_id: AnswerId,
    name: z.string(),
    selectors: z.array(z.enum(selectorTypes)).describe('Where the action may be assigned.'),
    effects: z.array(z.string()),
    declared: z.boolean().describe('Whether the active release declares it.'),
    approved: z.boolean().describe('Whether the ceiling approves it for the active release.'),
    revision: z.int(),
  })
  .meta({ id: 'PluginAction' });

/** An action, with the ceiling of its installation. */
export function viewAction(
  { id, installationId, name, selectors, effects, isDeclared, revision }: ActionDetails,
  installation: InstallationDetails,
  ceiling: CeilingDetails | undefined,
): z.input<typeof ActionView> {
  const isApproved =
    isDeclared &&
    ceiling !== undefined &&
    isCurrent(ceiling, installation) &&
    ceiling.actions.some((each) => each.name === name);
  return {
    id,
    installation_id: installationId,
    name,
    selectors,
    effects,
    declared: isDeclared,
    approved: isApproved,
    revision,
  };
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
    release: z.string().nullable().describe('The release that it was set for; null: nobody has set a ceiling.'),
    installation_revision: z.int().nullable().describe('The revision of the installation that it was set for.'),
    current: z.boolean().describe('False: it was set for another release or revision, and approves nothing now.'),
    set_at: Time.nullable(),
    set_by: AnswerId.nullable().describe('Who has approved it.'),
    revision: z.int().describe('0: nobody has set a ceiling.'),
  })
  .meta({ id: 'PluginCeiling' });

/** The ceiling of an installation. Without one, nothing is approved. */
export function viewCeiling(
  installation: InstallationDetails,
  ceiling: CeilingDetails | undefined,
): z.input<typeof CeilingView> {
  return {
    installation_id: installation.id,
    actions: ceiling?.actions.map(({ name }) => name) ?? [],
    executions: ceiling?.executions.map((entry) => ({ ...entry, in_force: isInForce(entry, installation) })) ?? [],
    release: ceiling?.release ?? null,
    installation_revision: ceiling?.installationRevision ?? null,
    current: ceiling !== undefined && isCurrent(ceiling, installation),
    set_at: ceiling?.setAt ?? null,
    set_by: ceiling?.setBy ?? null,
    revision: ceiling?.revision ?? 0,
  };
}

export const ListedGrantView = z
  .object({
    id: AnswerId,
    installation_id: AnswerId,
    action: z.object({ id: AnswerId, name: z.string() }),
    subject: z.object({ ...Subject.shape, name: z.string() }),
    selector: Selector,
    in_force: z.boolean(),
    ended: reasonOf(ends)
      .extend({ others: z.array(z.string()).describe('The codes of what else would have ended it.') })
      .nullable()
      .describe('Why it is no longer in force. It never is again: assign the action anew.'),
    granted_by: AnswerId,
    created_at: Time,
    revoked_at: Time.nullable(),
    revoked_by: AnswerId.nullable().describe('Null: nobody has revoked it, though it may have ended otherwise.'),
    revision: z.int(),
  })
  .meta({ id: 'ListedPluginActionGrant' });

export const GrantView = z
  .object({ ...ListedGrantView.shape, ...ownedParts, actions: grantActions.view })
  .meta({ id: 'PluginActionGrant' });

export function viewGrant(grant: GrantWithStanding): z.input<typeof ListedGrantView> {
  const ended = findEnd(grant, grant.standing);
  return {
    id: grant.id,
    installation_id: grant.installationId,
    action: { id: grant.actionId, name: grant.actionName },
    subject: { type: grant.subjectType, id: grant.subjectId, name: grant.subjectName },
    selector: { type: grant.selectorType, id: grant.selectorId },
    in_force: ended === null,
    ended: ended && { ...ended, others: [...ended.others] },
    granted_by: grant.grantedBy,
    created_at: grant.createdAt,
    revoked_at: grant.revokedAt,
    revoked_by: grant.revokedBy,
    revision: grant.revision,
  };
}

export const ListedBackgroundPrincipalView = z
  .object({
    id: AnswerId,
    installation_id: AnswerId,
    name: z.string(),
    selector: Selector.describe('Where it may be assigned actions.'),
    state: z
      .enum(backgroundStates)
      .describe('`ended`: its scope is no longer what it was approved for, and it may be assigned nothing any more.'),
    ended: reasonOf(backgroundEnds)
      .nullable()
      .describe('Why it is not active. It never is again: approve another one.'),
    approved_by: AnswerId,
    created_at: Time,
    revoked_at: Time.nullable(),
    revoked_by: AnswerId.nullable(),
    revision: z.int(),
  })
  .meta({ id: 'ListedPluginBackgroundPrincipal' });

export const BackgroundPrincipalView = z
  .object({ ...ListedBackgroundPrincipalView.shape, ...ownedParts, actions: backgroundActions.view })
  .meta({ id: 'PluginBackgroundPrincipal' });

export function viewBackground(background: BackgroundDetails): z.input<typeof ListedBackgroundPrincipalView> {
  const { id, installationId, name, selectorType, selectorId, createdAt, revokedAt, revision } = background;
  const { approvedBy, revokedBy } = background;
  const ended = findBackgroundEnd(background);
  return {
    id,
    installation_id: installationId,
    name,
    selector: { type: selectorType, id: selectorId },
    state: ended === null ? 'active' : ended.code === 'revoked' ? 'revoked' : 'ended',
    ended,
    approved_by: approvedBy,
    created_at: createdAt,
    revoked_at: revokedAt,
    revoked_by: revokedBy,
    revision,
  };
}

/** What is shown of a thing with what owns it. */
export function withOwnership<Shown extends object>(shown: Shown, place: Place) {
  return { ...shown, ownership: snapshotOf(place) };
}
