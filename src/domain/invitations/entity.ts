import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import { PrincipalRecord } from '#domain/identity/entity.ts';
import { Organization } from '#domain/organizations/entity.ts';
import type { OrganizationRole, TeamRole } from '#domain/shared/vocabulary/roles.ts';
import { Team } from '#domain/teams/entity.ts';

/**
 * The fields that are set whenever an invitation is sent: its token, its inviter, and the generations of inviter, organization and team.
 */
export type Sending = Pick<
  Invitation,
  'verifier' | 'sentAt' | 'invitedBy' | 'inviterGeneration' | 'organizationGeneration' | 'teamGeneration'
>;

/**
 * An offer of membership to an e-mail address: in an organization, in one of its teams, or in both. It is valid only for the generations of
 * inviter, organization and team in which it was sent. Archiving, transferring or disabling one of them raises its generation, which voids
 * the invitation permanently.
 */
export const InvitationSchema = defineEntity({
  name: 'Invitation',
  tableName: 'invitations',
  uniques: [
    {
      name: 'invitations_open_unique',
      expression:
        'create unique index "invitations_open_unique" on "invitations" ("organization_id", "team_id", "email_key") nulls not distinct where "accepted_at" is null and "revoked_at" is null',
    },
  ],
  indexes: [
    { name: 'invitations_organization_id_index', properties: ['organizationId', 'id'] },
    { name: 'invitations_team_id_index', properties: ['teamId', 'id'] },
    { name: 'invitations_invited_by_index', properties: ['invitedBy'] },
    { name: 'invitations_accepted_by_index', properties: ['acceptedBy'] },
  ],
  properties: {
    id: id(),
    organizationId: () => p.manyToOne(Organization).mapToPk().fieldName('organization_id').deleteRule('restrict'),
    teamId: () => p.manyToOne(Team).mapToPk().fieldName('team_id').deleteRule('restrict').nullable(),
    email: p.string(),
    /** The address in the form by which addresses are compared. */
    emailKey: p.string(),
    /** The role that a newcomer gets in the organization; null: the invitation is only for members of it. */
    role: p.string().$type<OrganizationRole>().nullable(),
    teamRole: p.string().$type<TeamRole>().nullable(),
    /** SHA-256 of the token. The token is random, so a slow hash would add nothing. */
    verifier: p.blob().unique().hidden(),
    /**
     * The inviter. The reference is never removed: users who invited somebody or accepted an invitation can be disabled, but not deleted.
     */
    invitedBy: () => p.manyToOne(PrincipalRecord).mapToPk().fieldName('invited_by').deleteRule('restrict'),
    inviterGeneration: p.integer(),
    organizationGeneration: p.integer(),
    teamGeneration: p.integer().nullable(),
    revision: revision(),
    createdAt: createdAt(),
    sentAt: at(),
    expiresAt: at(),
    acceptedAt: at().nullable(),
    acceptedBy: () => p.manyToOne(PrincipalRecord).mapToPk().fieldName('accepted_by').deleteRule('restrict').nullable(),
    revokedAt: at().nullable(),
  },
});
export class Invitation extends InvitationSchema.class {
  /** Sends it again with a new token, which is valid for the original lifetime. The sender becomes the inviter. */
  renew(sending: Sending): void {
    const lifetimeMs = this.expiresAt.getTime() - this.sentAt.getTime();
    Object.assign(this, sending, { expiresAt: new Date(sending.sentAt.getTime() + lifetimeMs) });
    this.revision += 1;
  }

  accept(by: string): void {
    this.acceptedAt = new Date();
    this.acceptedBy = by;
    this.revision += 1;
  }

  revoke(): void {
    this.revokedAt = new Date();
    this.revision += 1;
  }
}
InvitationSchema.setClass(Invitation);
