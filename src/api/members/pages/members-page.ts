import type { FastifyReply } from 'fastify';
import type { LevelOwner } from '#api/tenancy/pages/levels/level.ts';
import { levelPage } from '#api/tenancy/pages/levels/level-page.ts';
import { type NamedPerson, type Person, personFields, readJoiner, whoField } from '#api/tenancy/pages/person-fields.ts';
import { renderSection } from '#api/tenancy/pages/views.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { capitalize, toSentence } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { confirmationOfMember } from './member-forms.ts';
import type { MemberLevel, ShownMember } from './member-level.ts';
import { nextStepNames, nextStepQuery, readPrefilledPerson, renderOutsider } from './next-step.ts';

const person = 'user_id';
const names = [person, whoField(person), 'role', ...nextStepNames] as const;

interface State {
  readonly typed?: Readonly<Record<string, string>>;
  readonly problems?: FormProblems;
  /** The person in the form who must join the organization first. */
  readonly outsider?: Person | undefined;
}

/** The members of an organization or a team, and the form that adds one. */
export async function showMembers<Params, Owner extends LevelOwner>(
  members: MemberLevel<Params, Owner>,
  visit: Visit<Params>,
  state: State = {},
): Promise<FastifyReply> {
  const { level } = members;
  const owner = await level.read(visit);
  const cursor = visit.query('cursor');
  const { members: shown, next_cursor: next } = await members.list(visit, owner, cursor ? { cursor } : {});
  const content = html`${(await members.renderSetup?.(visit, owner)) ?? null}${(await members.renderNextStep?.(visit, owner)) ?? null}${
    shown.length > 0
      ? html`<div class="list-panel">${renderMembers(members, owner, shown, visit.principal.id)}</div>`
      : renderEmpty('No members', `Members of the ${level.noun} are listed here.`)
  }
${renderPages({ cursor, next }, (query) => level.path('members', owner, query))}
${renderSection('add', 'Add a member', members.aboutJoining, await renderJoinForm(members, visit, owner, state))}`;
  const page = { ...levelPage(level, visit, owner, { tab: 'members', content }), hasProblem: Boolean(state.problems) };
  return visit.show(page, state.problems?.status);
}

async function renderJoinForm<Params, Owner extends LevelOwner>(
  members: MemberLevel<Params, Owner>,
  visit: Visit<Params>,
  owner: Owner,
  state: State,
): Promise<Html> {
  const refusal = refusalOf(owner.actions, 'set_members');
  if (refusal) return html`<p class="muted">${toSentence(refusal)}</p>`;
  const field = { name: person, ...(await members.joiners(visit, owner)) };
  // The search for people does not find accounts without any membership.
  const value = (await readPrefilledPerson(visit)) ?? field.others?.find(({ id }) => id === visit.query(person))?.id;
  // A link from somebody else must not preselect the most powerful role.
  const offered = members.roles.filter(({ value }) => value !== 'owner');
  const role = offered.find(({ value }) => value === visit.query('role'))?.value ?? 'member';
  return renderForm({
    action: members.level.path('members', owner),
    fields: [
      renderOrganizationLink(members, owner, state) ?? html``,
      ...(await personFields(visit, { ...field, ...(value && { value }) })),
      { name: 'role', label: 'Role', kind: 'radio', choices: members.roles, value: role },
      ...nextStepNames.map((name) => ({ name, label: '', kind: 'hidden' as const, value: visit.query(name) ?? '' })),
    ],
    submit: 'Add',
    ...state,
  });
}

/** Links to the form that adds a person to the organization. */
function renderOrganizationLink<Params, Owner extends LevelOwner>(
  { joinOrganizationPath }: MemberLevel<Params, Owner>,
  owner: Owner,
  { typed = {}, outsider }: State,
): Html | null {
  if (!joinOrganizationPath || !outsider) return null;
  const path = joinOrganizationPath(owner, { user_id: outsider.id, ...(typed['role'] && { role: typed['role'] }) });
  return renderOutsider(path, outsider);
}

/** Adds a member. */
export async function submitMember<Params, Owner extends LevelOwner>(
  members: MemberLevel<Params, Owner>,
  visit: Visit<Params>,
): Promise<FastifyReply> {
  const { level } = members;
  const owner = await level.read(visit);
  const typed = visit.form(...names);
  let named: NamedPerson = { id: '' };
  const submitted = await submit(visit, names, async () => {
    const search = { name: person, ...(await members.joiners(visit, owner)) };
    named = await readJoiner(visit, search, typed, (id) => members.get(visit, owner, id));
    await members.set(visit, owner, named.id, { role: typed.role });
  });
  if (!submitted.done)
    return showMembers(members, visit, { typed, problems: submitted.problems, outsider: named.outsider });
  return visit.redirect(
    level.path('members', owner, {
      done: await confirmationOfMember(members, visit, owner, named.id),
      ...(members.renderNextStep && nextStepQuery(named.id, typed)),
    }),
  );
}

function renderMembers<Params, Owner extends LevelOwner>(
  members: MemberLevel<Params, Owner>,
  owner: Owner,
  shown: readonly ShownMember[],
  visitorId: string,
): Html {
  return renderTable({
    caption: 'Members',
    rows: shown,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: ({ user_id: id, name }) =>
          html`<a class="foreign" href="${members.memberPath(owner, id)}">${name}</a>${id === visitorId ? html` <span class="badge">You</span>` : null}`,
      },
      { label: 'Role', cell: ({ role }) => capitalize(role) },
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
      { label: 'Member since', kind: 'minor', cell: ({ created_at: since }) => renderTime(since) },
    ],
  });
}
