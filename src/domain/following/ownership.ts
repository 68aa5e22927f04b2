import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';
import { voidOnTransfer } from '#domain/shared/ownership-graph/voiding.ts';

const acting = 'an instance whose follower authority has ended follows nothing and says why';
const saved = 'an instance follows nothing for other owners than those for whom that was saved';

export const followingKinds = [
  {
    kind: 'instance_follow',
    table: 'instance_follows',
    key: ['instanceId'],
    owners: [{ kind: 'instance', columns: ['instanceId'], cascade: { rows: 'deleted' }, onTransfer: voidOnTransfer }],
    references: [
      { kind: 'organization', columns: ['savedForOrganizationId'], kept: saved },
      { kind: 'team', columns: ['savedForTeamId'], kept: saved },
      { kind: 'principal', columns: ['authorityId'], kept: acting },
      { kind: 'principal', columns: ['responsibleUserId'], kept: acting },
    ],
  },
] as const satisfies readonly Declaration[];
