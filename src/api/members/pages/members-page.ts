import type { FastifyReply } from 'fastify';
import { refusalOf } from '#api/tenancy/pages/named-forms.ts';
import { renderSection } from '#api/tenancy/pages/views.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderEmpty, renderPager, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { toSentence } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { MemberLevel, MembersOwner, ShownMember } from './member-level.ts';

const names = ['user_id', 'role'] as const;

interface State {
  readonly typed?: Readonly<Record<string, string>>;
  readonly problems?: FormProblems;
}

/** The members of an organization or a team, and the form by which somebody joins. */
export async function showMembers<Params, Owner extends MembersOwner>(
  level: MemberLevel<Params, Owner>,
  visit: Visit<Params>,
  state: State = {},
): Promise<FastifyReply> {
  const owner = await level.read(visit);
  const cursor = visit.query('cursor');
  const { members, next_cursor: next } = await level.list(visit, owner, cursor ? { cursor } : {});
  const content = html`${
    members.length > 0
      ? html`<div class="list-panel">${renderMembers(level, owner, members, visit.principal.id)}</div>`
      : renderEmpty('Nobody is here', `Members of the ${level.noun} are listed here.`)
  }
${renderPager({ first: cursor ? level.path(owner) : null, next: next ? level.path(owner, { cursor: next }) : null })}
${renderSection(
  'add',
  'Add somebody',
  level.noun === 'team'
    ? 'Members of a team are members of its organization. Invite everybody else by e-mail.'
    : 'People whom you know here join at once. Invite everybody else by e-mail.',
  await renderJoinForm(level, visit, owner, state),
)}`;
  const page = { ...level.page(visit, owner, content), hasProblem: Boolean(state.problems) };
  return visit.show(page, state.problems?.status);
}

async function renderJoinForm<Params, Owner extends MembersOwner>(
  level: MemberLevel<Params, Owner>,
  visit: Visit<Params>,
  owner: Owner,
  state: State,
): Promise<Html> {
  const refusal = refusalOf(owner.actions, 'set_members');
  if (refusal) return html`<p class="muted">${toSentence(refusal)}</p>`;
  return renderForm({
    action: level.path(owner),
    fields: [
      await level.personField(visit, owner),
      { name: 'role', label: 'Role', kind: 'radio', choices: level.roles, value: 'member' },
    ],
    submit: 'Add',
    ...state,
  });
}

/** Lets somebody join. */
export async function submitMember<Params, Owner extends MembersOwner>(
  level: MemberLevel<Params, Owner>,
  visit: Visit<Params>,
): Promise<FastifyReply> {
  const owner = await level.read(visit);
  const typed = visit.form(...names);
  const submitted = await submit(visit, names, async () => {
    const userID = await level.findPerson(visit, owner, typed);
    await level.set(visit, owner, userID, { role: typed.role });
  });
  if (!submitted.done) return showMembers(level, visit, { typed, problems: submitted.problems });
  return visit.redirect(level.path(owner, { done: 'member-set' }));
}

function renderMembers<Params, Owner extends MembersOwner>(
  level: MemberLevel<Params, Owner>,
  owner: Owner,
  members: readonly ShownMember[],
  visitorId: string,
): Html {
  return renderTable({
    caption: 'Members',
    rows: members,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: ({ user_id: id, name }) =>
          html`<a class="foreign" href="${level.memberPath(owner, id)}">${name}</a>${id === visitorId ? html` <span class="badge">You</span>` : null}`,
      },
      { label: 'Role', cell: ({ role }) => role },
      {
        label: 'E-mail address',
        cell: ({ email, type }) =>
          type === 'user'
            ? html`<span class="foreign">${email}</span>`
            : html`<span class="muted">service account</span>`,
      },
      {
        label: 'State',
        cell: ({ enabled }) =>
          enabled ? null : renderStatusBadge({ word: 'Disabled', icon: 'ban', tone: 'canceled' }),
      },
      { label: 'Since', kind: 'minor', cell: ({ created_at: since }) => renderTime(since) },
    ],
  });
}
