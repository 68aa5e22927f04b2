import type { FastifyReply } from 'fastify';
import { confirmationPage } from '#api/web/forms/confirmation.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { archive, get, remove, unarchive } from '../../template-operations.ts';
import type { ShownTemplate } from '../shown.ts';

type TemplateVisit = Visit<{ id: string }>;

/** A page that asks whether an action is meant, and carries it out. */
interface Question {
  readonly pattern: typeof pages.archiveTemplate | typeof pages.deleteTemplate;
  readonly action: ShownTemplate['actions'][number]['name'];
  readonly verb: string;
  readonly consequences: Html;
  readonly work: (visit: TemplateVisit) => Promise<unknown>;
  readonly next: (id: string) => ReturnType<typeof pagePath>;
}

const questions: readonly Question[] = [
  {
    pattern: pages.archiveTemplate,
    action: 'archive',
    verb: 'Archive',
    consequences: html`<p>It takes no new versions and no new runs. What it has deployed stays as it is.</p>
<p>It can be made active again at any time.</p>`,
    work: (visit) => visit.run(archive, { params: visit.params }),
    next: (id) => pagePath(pages.template, { id }, { done: 'archived' }),
  },
  {
    pattern: pages.deleteTemplate,
    action: 'delete',
    verb: 'Delete',
    consequences: html`<p><strong>What goes:</strong> the template and its versions. Nothing brings them back. Its slug is free again.</p>
<p><strong>What stays:</strong> its runs, with what they were given and what they deployed.</p>`,
    work: (visit) => visit.run(remove, { params: visit.params }),
    next: () => pagePath(pages.catalog, {}, { done: 'deleted' }),
  },
];

/** Adds the pages that ask before a template is archived or deleted, and the button that makes it active again. */
export function registerTemplateQuestions(addPage: AddPage): void {
  for (const question of questions) {
    addPage('GET', question.pattern, (visit) => ask(visit, question));
    addPage('POST', question.pattern, async (visit) => {
      visit.form();
      const sent = await submit(visit, [], () => question.work(visit));
      return sent.done ? visit.redirect(question.next(visit.params.id)) : ask(visit, question, sent.problems);
    });
  }
  addPage('POST', pages.unarchiveTemplate, async (visit) => {
    visit.form();
    await visit.run(unarchive, { params: visit.params });
    return visit.redirect(pagePath(pages.template, visit.params, { done: 'unarchived' }));
  });
}

/** What stands in the way is said before anything is sent. */
async function ask(
  visit: TemplateVisit,
  question: Question,
  refused: FormProblems | null = null,
): Promise<FastifyReply> {
  const { id } = visit.params;
  const { name, actions } = await visit.read(get, { params: { id } });
  const reason = actions.find((action) => action.name === question.action)?.reason;
  const problems = refused ?? (reason ? { status: 200, fields: {}, ofOthers: {}, others: [toSentence(reason)] } : null);
  const page = confirmationPage({
    title: `${question.verb} “${name}”`,
    crumbs: [
      { label: 'Catalog', path: pagePath(pages.catalog) },
      { label: name, path: pagePath(pages.template, { id }) },
    ],
    consequences: question.consequences,
    fields: [],
    problems,
    verb: question.verb,
    action: pagePath(question.pattern, { id }),
    cancel: pagePath(pages.template, { id }),
  });
  return visit.show(page, problems?.status);
}
