import { z } from 'zod';
import { Email } from '#domain/identity/model.ts';
import { defaultLifetimeSeconds, type OrganizationInvitation, type TeamInvitation } from '#domain/invitations/model.ts';
import { Id } from '#domain/shared/ids.ts';
import { durationBetween, formatDuration, parseDuration } from '#domain/shared/values/durations.ts';
import { organizationRoles, teamRoles } from '#domain/shared/vocabulary/roles.ts';

const hour = 60 * 60;
const InvitationLifetime = durationBetween(hour, 30 * 24 * hour)
  .optional()
  .describe(`How long it may be accepted; ${formatDuration(defaultLifetimeSeconds)} by default.`);

export const InviteToOrganization = z
  .strictObject({
    email: Email,
    role: z.enum(organizationRoles).default('member'),
    team_id: Id.optional(),
    team_role: z.enum(teamRoles).optional().describe('The role in the team of `team_id`; `member` by default.'),
    expires_in: InvitationLifetime,
  })
  .refine(({ team_id: teamId, team_role: teamRole }) => teamId !== undefined || teamRole === undefined, {
    path: ['team_role'],
    error: 'is a role in a team: give its team_id as well',
  })
  .meta({ id: 'InviteToOrganization' });

export function toOrganizationInvitation(body: z.output<typeof InviteToOrganization>): OrganizationInvitation {
  const { email, role, team_role: teamRole, expires_in: expiresIn } = body;
  return { email, role, teamRole, lifetimeSeconds: toSeconds(expiresIn) };
}

export const InviteToTeam = z
  .strictObject({
    email: Email,
    role: z.enum(teamRoles).default('member'),
    expires_in: InvitationLifetime,
  })
  .meta({ id: 'InviteToTeam' });

export function toTeamInvitation({
  email,
  role,
  expires_in: expiresIn,
}: z.output<typeof InviteToTeam>): TeamInvitation {
  return { email, role, lifetimeSeconds: toSeconds(expiresIn) };
}

/** The body's schema has checked that the text is a duration. */
function toSeconds(lifetime: string | undefined): number {
  return (lifetime === undefined ? null : parseDuration(lifetime)) ?? defaultLifetimeSeconds;
}

export const AcceptInvitation = z
  .strictObject({ token: z.string().min(1).max(200).meta({ writeOnly: true }) })
  .meta({ id: 'AcceptInvitation' });
