import type { z } from 'zod';
import { type ActionContext, describeActions } from '#api/pipeline/actions.ts';
import type { Em } from '#database/database.ts';
import { readLastRuns, readTemplate } from '#domain/registry/catalog-store.ts';
import type { TemplateTarget } from '#domain/registry/store.ts';
import { findTemplateUse } from '#domain/registry/templates.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import { NotFound } from '#domain/shared/errors.ts';
import type { Used } from '#domain/shared/ownership-graph/blockers.ts';
import { type TemplateView, type templateActions, viewListed } from './views.ts';

type TemplateAction = (typeof templateActions)[number];

interface TemplateFacts extends Used {
  readonly target: TemplateTarget;
  readonly latestVersion: string | null;
}

const nothingPublished: Refusal = { code: 'version_unknown', message: 'the template has no published version' };

/** For each action: the operation that carries it out, and the area's rule on it. */
const declared: Record<TemplateAction, { operation: string; findRefusal: (facts: TemplateFacts) => Refusal | null }> = {
  run: {
    operation: 'template_versions.run',
    findRefusal: ({ target, latestVersion }) =>
      findArchivedRefusal(target) ?? (latestVersion === null ? nothingPublished : null),
  },
  publish: { operation: 'template_versions.publish', findRefusal: ({ target }) => findArchivedRefusal(target) },
  update: { operation: 'templates.update', findRefusal: ({ target }) => findArchivedRefusal(target) },
  archive: { operation: 'templates.archive', findRefusal: ({ archiving }) => archiving },
  unarchive: {
    operation: 'templates.unarchive',
    findRefusal: ({ target }) =>
      findArchivedRefusal({ archived: target.archived.filter((level) => level !== 'template') }),
  },
  delete: { operation: 'templates.delete', findRefusal: ({ deletion }) => deletion },
};

/** Shows one template with its readme, its last run, and what the caller may do with it. */
export async function showTemplate(
  { em, ...context }: ActionContext & { readonly em: Em },
  target: TemplateTarget,
): Promise<z.input<typeof TemplateView>> {
  const { id } = target.template;
  const [template, lastRuns, use] = await Promise.all([
    readTemplate(em, id),
    readLastRuns(em, context.principal, [id]),
    findTemplateUse(em, context.principal, id),
  ]);
  if (!template) throw new NotFound('template');
  const actions = describe(context, { ...use, target, latestVersion: template.latestVersion });
  return { ...viewListed(template, lastRuns.get(id)), readme: template.readme, actions };
}

function describe(context: ActionContext, facts: TemplateFacts) {
  const { organizationId, teamId } = facts.target;
  const names = Object.keys(declared) as TemplateAction[];
  return describeActions(
    context,
    names.map((name) => ({
      name,
      operation: declared[name].operation,
      target: { organizationId, teamId },
      findRefusal: () => declared[name].findRefusal(facts),
    })),
  );
}
