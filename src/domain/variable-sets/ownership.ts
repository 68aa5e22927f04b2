import { type SqlBool, sql } from 'kysely';
import { ownerLinks } from '#domain/owners/links.ts';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';
import { voidOnTransfer } from '#domain/shared/ownership-graph/voiding.ts';
import { isOfOwnerAbove } from '#domain/variables/attachment-force.ts';

/**
 * A place still gets the variables if the owner of the set also owns it after the transfer, such as an organization that owns both teams.
 */
const voidIfOutside = {
  ...voidOnTransfer,
  when: (row: Row<'voidSince' | 'variableSetId' | 'projectId' | 'environmentId'>) => sql<SqlBool>`
    ${row('voidSince')} is null and not exists (
      select from variable_sets s, projects p join teams t on t.id = p.team_id
      where s.id = ${row('variableSetId')} and ${isOfOwnerAbove}
        and p.id = coalesce(${row('projectId')}, (select e.project_id from environments e where e.id = ${row('environmentId')})))`,
} as const;

export const variableSetKinds = [
  {
    kind: 'variable_set',
    table: 'variable_sets',
    label: 'name',
    revision: true,
    owners: ownerLinks({ cascade: { rows: 'deleted' } }),
  },
  {
    kind: 'variable_set_variable',
    table: 'variable_set_variables',
    key: ['variableSetId', 'name'],
    label: 'name',
    owners: [{ kind: 'variable_set', columns: ['variableSetId'], cascade: { rows: 'deleted' } }],
    references: [
      {
        kind: 'principal',
        columns: ['setBy'],
        blocker: {
          message: 'has set secrets of variable sets',
          remedy: 'which history keeps: disable the user instead',
          when: (row) => sql<SqlBool>`${row('sensitive')}`,
          names: ['variable_set', 'variable_set_variable'],
          includes: 'deleted',
          onlyOf: 'user',
        },
        kept: 'the value of a variable outlives the user who set it',
      },
    ],
  },
  {
    kind: 'variable_set_attachment',
    table: 'variable_set_attachments',
    label: (row) => sql<string>`${row('id')}::text`,
    owners: [{ kind: 'variable_set', columns: ['variableSetId'], cascade: { rows: 'deleted' } }],
    references: [
      { kind: 'project', columns: ['projectId'], cascade: { rows: 'deleted' }, onTransfer: voidIfOutside },
      { kind: 'environment', columns: ['environmentId'], cascade: { rows: 'deleted' }, onTransfer: voidIfOutside },
    ],
  },
] as const satisfies readonly Declaration[];
