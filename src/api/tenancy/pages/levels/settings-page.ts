import type { FastifyReply } from 'fastify';
import { type ActionButton, renderActions } from '#api/web/components/actions.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, requireRevision, submit } from '#api/web/forms/problems.ts';
import { revisionName } from '#api/web/forms/read-form.ts';
import { refusalOf, revisionField, toBody } from '#api/web/forms/resource-forms.ts';
import { openedName } from '#api/web/forms/stale.ts';
import { type Html, html } from '#api/web/html.ts';
import { toSentence } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { nameFields } from '../named-forms.ts';
import { renderSection } from '../views.ts';
import type { Level, LevelOwner } from './level.ts';
import { levelPage } from './level-page.ts';

const names = ['name', 'slug', revisionName, openedName] as const;

interface State {
  readonly typed?: Readonly<Record<string, string>>;
  readonly problems?: FormProblems;
}

interface Ending extends Pick<ActionButton, 'icon' | 'tone'> {
  readonly action: 'archive' | 'unarchive' | 'transfer' | 'delete';
  readonly title: string;
  readonly about: string;
}

/** The settings of an organization or a team: its name, and the actions that end it. */
export async function showLevelSettings<Params, Owner extends LevelOwner>(
  level: Level<Params, Owner>,
  visit: Visit<Params>,
): Promise<FastifyReply> {
  return show(level, visit, await level.read(visit), {});
}

export async function submitLevelSettings<Params, Owner extends LevelOwner>(
  level: Level<Params, Owner>,
  visit: Visit<Params>,
): Promise<FastifyReply> {
  const owner = await level.read(visit);
  const typed = visit.form(...names);
  const submitted = await submit(visit, names, () => {
    requireRevision(visit);
    return level.settings.update(visit, owner, toBody(typed));
  });
  if (submitted.done) return visit.redirect(level.path('main', owner, { done: 'saved' }));
  return show(level, visit, owner, { typed, problems: submitted.problems });
}

function show<Params, Owner extends LevelOwner>(
  level: Level<Params, Owner>,
  visit: Visit,
  owner: Owner,
  state: State,
): Promise<FastifyReply> {
  const content = html`${renderSection('name-and-slug', 'Name and slug', level.settings.aboutSlug, renderNameForm(level, owner, state))}
${renderEndings(level, owner)}`;
  return visit.show(
    { ...levelPage(level, visit, owner, { tab: 'settings', content }), hasProblem: Boolean(state.problems) },
    state.problems?.status,
  );
}

function renderNameForm<Params, Owner extends LevelOwner>(
  level: Level<Params, Owner>,
  owner: Owner,
  state: State,
): Html {
  const refusal = refusalOf(owner.actions, 'update');
  if (refusal) return html`<p class="muted">${toSentence(refusal)}</p>`;
  return renderForm({
    action: level.path('settings', owner),
    fields: [...nameFields(owner), revisionField(owner)],
    submit: 'Save changes',
    ...state,
  });
}

/** Buttons for the actions that end or move the owner. The page of each action has the action's name. */
function renderEndings<Params, Owner extends LevelOwner>(level: Level<Params, Owner>, owner: Owner): Html {
  const { noun, settings } = level;
  const render = (id: string, { action, title, about, icon, tone }: Ending) => {
    const button = { label: `${title} …`, icon, path: level.path(action, owner), ...(tone && { tone }) };
    return renderSection(id, title, about, renderActions(owner.actions, { [action]: button }));
  };
  const about = `An archived ${noun} stays readable, and no run starts in it.`;
  const archiving: Ending =
    owner.archived_at === null
      ? { action: 'archive', title: 'Archive', about, icon: 'archive' }
      : { action: 'unarchive', title: 'Unarchive', about, icon: 'archive' };
  return html`${render('archive', archiving)}
${render('transfer', { action: 'transfer', title: 'Transfer', about: settings.aboutTransfer, icon: 'shuffle' })}
${render('deletion', { action: 'delete', title: 'Delete', about: settings.aboutDeletion, icon: 'trash-2', tone: 'danger' })}`;
}
