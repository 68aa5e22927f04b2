import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

/** Invitations that may still be accepted end with what they lead into. */
const openInvitations = {
  rows: 'ended',
  at: 'revoked_at',
  while: 'x.accepted_at is null and x.revoked_at is null',
} as const;

/** Memberships end with the principal, also where that is a service account which goes to another owner. */
const membership = { cascade: { rows: 'deleted' }, onTransfer: { rows: 'deleted' } } as const;
const soleOwner = {
  while: `x.role = 'owner'`,
  remedy: 'make somebody else their owner first',
  onlyOf: 'user',
  unlessShared: true,
} as const;

export const organizationKinds = [
  {
    kind: 'organization',
    table: 'organizations',
    label: 'x.slug',
    revision: true,
    generation: true,
    tombstone: true,
    archivable: true,
    slug: { constraint: 'organization_slugs_pkey', history: 'organization_slug' },
  },
  {
    kind: 'organization_slug',
    table: 'organization_slugs',
    key: ['slug'],
    label: 'x.slug',
    owners: [{ kind: 'organization', columns: ['organization_id'], cascade: { rows: 'deleted' } }],
  },
  {
    kind: 'organization_member',
    table: 'organization_members',
    owners: [{ kind: 'organization', columns: ['organization_id'], cascade: { rows: 'deleted' } }],
    references: [
      {
        kind: 'principal',
        columns: ['principal_id'],
        ...membership,
        blocker: { ...soleOwner, says: 'is the only owner of organizations', names: ['organization'] },
      },
    ],
  },
  {
    kind: 'team',
    table: 'teams',
    label: 'x.slug',
    revision: true,
    generation: true,
    tombstone: true,
    archivable: true,
    slug: { constraint: 'teams_organization_slug_unique' },
    owners: [
      {
        kind: 'organization',
        columns: ['organization_id'],
        blocker: { says: 'has teams', remedy: 'delete or transfer them first' },
      },
    ],
  },
  {
    kind: 'team_member',
    table: 'team_members',
    owners: [{ kind: 'team', columns: ['team_id'], cascade: { rows: 'deleted' } }],
    references: [
      {
        kind: 'principal',
        columns: ['principal_id'],
        ...membership,
        blocker: { ...soleOwner, says: 'is the only owner of teams', names: ['organization', 'team'] },
      },
    ],
  },
  {
    kind: 'invitation',
    table: 'invitations',
    revision: true,
    owners: [
      { kind: 'organization', columns: ['organization_id'], cascade: openInvitations },
      {
        kind: 'team',
        columns: ['team_id'],
        cascade: openInvitations,
        onTransfer: { ...openInvitations, revised: true },
      },
    ],
    references: [
      {
        kind: 'principal',
        columns: ['invited_by', 'accepted_by'],
        blocker: {
          says: 'has sent or accepted invitations to',
          remedy: 'which history keeps: disable the user instead',
          names: ['organization'],
          counts: 'deleted too',
          onlyOf: 'user',
        },
      },
    ],
  },
] as const satisfies readonly Declaration[];
