import { renderArchivedBadge } from '#api/tenancy/pages/views.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTabs, type Tab } from '#api/web/components/tabs.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { type AssemblySubject, type AssemblyVisit, assemblyPath, assemblyTabPath } from '../views.ts';

export type AssemblyTab = 'overview' | 'versions' | 'compare' | 'runs' | 'draft';

/** A page of an assembly: its head, its tabs, and the content of one of them. */
export function assemblyPage(
  visit: AssemblyVisit,
  assembly: AssemblySubject,
  tab: AssemblyTab,
  content: Html,
  rest: Pick<Page, 'scripts' | 'hasProblem'> = {},
): Page {
  return {
    title: assembly.name,
    ...rest,
    main: html`<div class="page page-wide">
${renderPageHead({
  title: assembly.name,
  crumbs: [{ label: 'Assemblies', path: pagePath(pages.assemblies) }],
  beside: html`${assembly.latest_version ? html`<span class="badge foreign">${assembly.latest_version}</span>` : null}${renderArchivedBadge(assembly.archived_at)}`,
  below: html`Team <span class="foreign">${assembly.teamName}</span>${assembly.description ? html` · <span class="foreign">${assembly.description}</span>` : null}`,
  actions: renderButtons(assembly),
  history: ['assemblies', assembly.id],
})}
${renderConfirmation(visit, pages.assembly)}
${renderTabs('Parts of the assembly', tabsOf(assembly, tab))}
${content}
</div>`,
  };
}

/** The tabs. Only visitors who may change the assembly see the draft. */
function tabsOf(assembly: AssemblySubject, current: AssemblyTab): Tab[] {
  const { id } = assembly;
  const tab = (key: AssemblyTab, label: string, path = assemblyTabPath(id, key)): Tab => ({
    label,
    path,
    isCurrent: key === current,
  });
  return [
    tab('overview', 'Overview', assemblyPath({ id })),
    tab('versions', 'Versions'),
    tab('compare', 'Compare'),
    tab('runs', 'Runs'),
    ...(mayWrite(assembly) ? [tab('draft', 'Draft', pagePath(pages.assemblyDraft, { id }))] : []),
  ];
}

/** Whether the visitor may change the assembly, or could if it were not archived. */
export function mayWrite({ actions }: Pick<AssemblySubject, 'actions'>): boolean {
  return actions.some(({ name, allowed }) => allowed && (name === 'update' || name === 'unarchive'));
}

function renderButtons({ id, actions, archived_at: archived, latest_version: latest }: AssemblySubject): Html {
  const absent = [archived === null ? 'unarchive' : 'archive', ...(latest === null ? ['run'] : [])];
  const shown = actions.filter(({ name }) => !absent.includes(name));
  return renderActions(shown, {
    run: { label: 'Run', icon: 'play', tone: 'primary', path: pagePath(pages.runAssembly, { id }) },
    update: { label: 'Edit', icon: 'pencil', path: pagePath(pages.editAssembly, { id }) },
    archive: { label: 'Archive', icon: 'archive', path: pagePath(pages.archiveAssembly, { id }) },
    unarchive: { label: 'Unarchive', icon: 'archive', path: pagePath(pages.unarchiveAssembly, { id }) },
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteAssembly, { id }) },
  });
}
