import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';
import { voidOnTransfer } from '#domain/shared/ownership-graph/voiding.ts';

const acting = 'an instance whose follower authority has ended follows nothing and says why';
const saved = 'an instance follows nothing for other owners than those for whom that was saved';

export const followingKinds = [
  {
    kind: 'instance_follow',
    table: 'instance_follows',
    key: ['instance_id'],
    owners: [{ kind: 'instance', columns: ['instance_id'], cascade: { rows: 'deleted' }, onTransfer: voidOnTransfer }],
    references: [
      { kind: 'organization', columns: ['saved_for_organization_id'], kept: saved },
      { kind: 'team', columns: ['saved_for_team_id'], kept: saved },
      { kind: 'principal', columns: ['authority_id'], kept: acting },
      { kind: 'principal', columns: ['responsible_user_id'], kept: acting },
    ],
  },
] as const satisfies readonly Declaration[];
