import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTabs } from '#api/web/components/tabs.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { renderArchivedBadge } from '../views.ts';
import type { Level, LevelOwner } from './level.ts';

export type LevelTab = 'main' | 'members' | 'invitations' | 'settings';

/** A page of an organization or a team: its head, its tabs and the content of one of them. */
export function levelPage<Params, Owner extends LevelOwner>(
  level: Level<Params, Owner>,
  visit: Visit,
  owner: Owner,
  { tab, content, scripts }: { readonly tab: LevelTab; readonly content: Html; readonly scripts?: readonly string[] },
): Page {
  const { name, slug, archived_at: archivedAt, actions } = owner;
  const { holds, noun } = level;
  const labels: Readonly<Record<LevelTab, string>> = {
    main: holds.label,
    members: 'Members',
    invitations: 'Invitations',
    settings: 'Settings',
  };
  const tabs = (Object.keys(labels) as LevelTab[]).map((each) => ({
    label: labels[each],
    path: level.path(each, owner),
    isCurrent: each === tab,
  }));
  const add = tab === 'main' ? renderActions(actions, { [holds.action]: holds.button(owner) }) : null;
  return {
    title: name,
    ...(scripts && { scripts }),
    main: html`<div class="page page-wide">
${renderPageHead({
  title: name,
  crumbs: level.parents(owner),
  beside: renderArchivedBadge(archivedAt),
  below: html`<span class="mono">${slug}</span>`,
  actions: add,
  history: [level.auditType, owner.id],
})}
${renderConfirmation(visit, level.confirmations)}
${renderTabs(`Parts of the ${noun}`, tabs)}
${content}
</div>`,
  };
}
