import { expect } from 'vitest';
import { manifestOf } from './plugin-world.ts';
import type { PluginStage } from './stage.ts';

/** A stage with a member to whom an action is assigned at the selector. */
export interface MemberStage extends PluginStage {
  readonly member: { readonly id: string };
  readonly selector: { readonly type: 'team'; readonly id: string };
  readonly grant: string;
  /** Where `prepare` of a transition keeps what it has made. */
  other?: string;
}

/** Something that ends an assignment for good, and what puts things back as they were. */
export interface Transition {
  /** The reason that a check gives afterwards, or a name in `hiding`. */
  readonly code: string;
  /** Who has to have installed the plugin; the organization unless given. */
  readonly owner?: 'team' | 'organization';
  readonly prepare?: (stage: MemberStage) => Promise<unknown>;
  readonly change: (stage: MemberStage) => Promise<unknown>;
  readonly restore?: (stage: MemberStage) => Promise<unknown>;
}

/** The answers to those who may not ask any more. */
export const hiding: Readonly<Record<string, number>> = { unauthenticated: 401, hidden: 400 };

/** Sends a command as the administrator. @throws Error for any other answer than a success */
async function send({ root }: PluginStage, method: string, path: string, body?: unknown) {
  const answer = await root.command([method, path], body);
  expect(answer.status, `${method} ${path} answered ${answer.text}`).toBeLessThan(300);
  return answer.body;
}

const teamPath = ({ organization, team }: PluginStage) => `/organizations/${organization}/teams/${team}`;

export const transitions: Readonly<Record<string, Transition>> = {
  'its revocation': {
    code: 'revoked',
    change: async ({ root, grant, sync, selector }) => {
      const { expected_ownership } = await root.assignmentOf(sync, {}, selector);
      return root.revoke(grant, expected_ownership);
    },
  },
  'the disablement of its subject': {
    code: 'unauthenticated',
    change: (stage) => send(stage, 'PUT', `/users/${stage.member.id}`, { enabled: false }),
    restore: (stage) => send(stage, 'PUT', `/users/${stage.member.id}`, { enabled: true }),
  },
  'its subject leaving the team': {
    code: 'hidden',
    change: (stage) => send(stage, 'DELETE', `${teamPath(stage)}/members/${stage.member.id}`),
    restore: (stage) => send(stage, 'PUT', `${teamPath(stage)}/members/${stage.member.id}`, { role: 'member' }),
  },
  'the archiving of the team': {
    code: 'scope_ineligible',
    change: (stage) => send(stage, 'POST', `${teamPath(stage)}/archive`, {}),
    restore: (stage) => send(stage, 'POST', `${teamPath(stage)}/unarchive`, {}),
  },
  'a transfer of the team to another organization': {
    code: 'scope_moved',
    owner: 'team',
    prepare: async (stage) => {
      const { id } = await send(stage, 'POST', '/organizations', { name: `Other ${stage.team.slice(-12)}` });
      stage.other = id;
      await send(stage, 'PUT', `/organizations/${id}/members/${stage.member.id}`, { role: 'member' });
    },
    change: (stage) => send(stage, 'POST', `${teamPath(stage)}/transfer`, { organization_id: stage.other }),
    restore: (stage) =>
      send(stage, 'POST', `/organizations/${stage.other}/teams/${stage.team}/transfer`, {
        organization_id: stage.organization,
      }),
  },
  'the activation of another release': {
    code: 'action_not_approved',
    prepare: ({ root, installation }) => root.stage(installation, manifestOf('2.0.0')),
    change: ({ root, installation }) => root.activate(installation, '2.0.0'),
    restore: async ({ root, installation }) => {
      await root.activate(installation, '1.0.0');
      await root.approve(installation, ['zone.sync', 'zone.read']);
    },
  },
  'a ceiling without the action': {
    code: 'action_not_approved',
    change: ({ root, installation }) => root.approve(installation, ['zone.read']),
    restore: ({ root, installation }) => root.approve(installation, ['zone.sync', 'zone.read']),
  },
};
