import { type Level, type LevelOwner, levelCrumbs } from '#api/tenancy/pages/levels/level.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import { renderTime } from '#api/web/components/time.ts';
import type { FormPageDeclaration } from '#api/web/forms/form-page.ts';
import { refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { capitalize } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { MemberDetails, MemberLevel, MemberParams } from './member-level.ts';
import { renderSchedulesOf } from './member-schedules.ts';

interface Membership<Owner> {
  readonly owner: Owner;
  readonly member: MemberDetails;
}

async function readMembership<Params, Owner extends LevelOwner>(
  members: MemberLevel<Params, Owner>,
  visit: Visit<MemberParams<Params>>,
): Promise<Membership<Owner>> {
  const owner = await members.level.read(visit);
  return { owner, member: await members.get(visit, owner, visit.params.userID) };
}

function membersCrumbs<Params, Owner extends LevelOwner>(level: Level<Params, Owner>, owner: Owner): Crumb[] {
  return [...levelCrumbs(level, owner), { label: 'Members', path: level.path('members', owner) }];
}

/** A single member, and the form that changes the role. */
export function memberForm<Params, Owner extends LevelOwner>(
  members: MemberLevel<Params, Owner>,
): FormPageDeclaration<MemberParams<Params>, Membership<Owner>> {
  const { level } = members;
  return {
    read: (visit) => readMembership(members, visit),
    describe: async ({ owner, member }, visit) => ({
      title: member.name,
      crumbs: membersCrumbs(level, owner),
      lead: html`${renderFacts([
        ['Role', capitalize(member.role)],
        ['E-mail address', member.email && html`<span class="foreign">${member.email}</span>`],
        ['Kind', member.type === 'user' ? 'person' : 'service account'],
        ['Member since', renderTime(member.created_at)],
        ['State', member.enabled ? 'enabled' : 'disabled'],
      ])}
${renderActions(member.actions, {
  remove: {
    label: `${member.user_id === visit.principal.id ? 'Leave' : 'Remove from'} the ${level.noun} …`,
    tone: 'danger',
    path: members.removalPath(owner, member.user_id),
  },
})}
${await renderSchedulesOf(visit, members.schedulesOf(owner), {
  userId: member.user_id,
  consequence: 'cannot start their work under a role that may not start it',
})}`,
      fields: [
        { name: 'role', label: 'Role', kind: 'radio', choices: members.roles, value: member.role },
        revisionField(member),
      ],
      submit: 'Save role',
      cancel: level.path('members', owner),
      refusal: refusalOf(member.actions, 'change_role'),
    }),
    carryOut: async ({ owner, member }, typed, visit) => {
      await members.set(visit, owner, member.user_id, { role: typed['role'] });
      return level.path('members', owner, { done: await confirmationOfMember(members, visit, owner, member.user_id) });
    },
  };
}

/** The confirmation on the members' page after somebody got a role. */
export async function confirmationOfMember<Params, Owner extends LevelOwner>(
  members: MemberLevel<Params, Owner>,
  visit: Visit,
  owner: Owner,
  userId: string,
): Promise<'member-set' | 'member-set-limited'> {
  return (await members.isLimited?.(visit, owner, userId)) ? 'member-set-limited' : 'member-set';
}

/** The form that ends a membership: one's own by leaving, another's by removing. */
export function removalForm<Params, Owner extends LevelOwner>(
  members: MemberLevel<Params, Owner>,
): FormPageDeclaration<MemberParams<Params>, Membership<Owner>> {
  const { level } = members;
  return {
    read: (visit) => readMembership(members, visit),
    describe: async ({ owner, member }, visit) => {
      const isOwn = member.user_id === visit.principal.id;
      return {
        title: isOwn ? `Leave ${owner.name}` : `Remove ${member.name} from ${owner.name}`,
        crumbs: membersCrumbs(level, owner),
        lead: html`<p>${members.aboutRemoval}</p>${await renderSchedulesOf(visit, members.schedulesOf(owner), {
          userId: member.user_id,
          consequence: 'cannot start their work any more',
        })}`,
        fields: [],
        submit: isOwn ? `Leave ${level.noun}` : 'Remove member',
        tone: 'danger',
        cancel: level.path('members', owner),
        refusal: refusalOf(member.actions, 'remove'),
      };
    },
    carryOut: async ({ owner, member }, _typed, visit) => {
      await members.remove(visit, owner, member.user_id);
      const hasLeft = member.user_id === visit.principal.id;
      return hasLeft ? members.pathAfterLeaving : level.path('members', owner, { done: 'member-removed' });
    },
  };
}
