import { isDeepStrictEqual } from 'node:util';
import type { FastifyReply } from 'fastify';
import { list as listEnvironments } from '#api/environments/operations.ts';
import { nameEnvironments } from '#api/tenancy/pages/environment-choices.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import { isYes, yesIf } from '#api/web/forms/fields/yes.ts';
import { refusedPage } from '#api/web/forms/form-page.ts';
import { resolveNames } from '#api/web/forms/named-choices.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { checkPlaceAccess } from '#domain/registry/checks/module-sources.ts';
import { withoutDerived } from '#domain/registry/derived-spec.ts';
import { loadVersionById, readFiles } from '#domain/registry/publication/published.ts';
import { decide } from '#domain/shared/access/decide.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';
import { findOfferedTools } from '#domain/workers/offered-tools.ts';
import { get as getTemplate } from '../../template-operations.ts';
import { check, get as getVersion, publish } from '../../version-operations.ts';
import type { ShownCheck, ShownVersion } from '../views.ts';
import { blankForm, fillForm, type PublishForm, readPublishForm } from './publish-form.ts';
import { checkPlaceField, crumbsOf, publishPage, titleOf } from './publish-view.ts';
import { atSource, namesOf } from './source-problems.ts';
import { composeSpec, keepSelected } from './spec-source.ts';

type TemplateVisit = Visit<{ id: string }>;

/** Shows the form for a new version. It starts with the spec of the latest version. */
export async function showPublish(
  visit: TemplateVisit,
  problems: FormProblems | null = null,
  typed: PublishForm | null = null,
  found: ShownCheck | null = null,
): Promise<FastifyReply> {
  const { id } = visit.params;
  const template = await visit.read(getTemplate, { params: { id } });
  const refusal = refusalOf(template.actions, 'publish');
  if (refusal !== null && problems === null) {
    const cancel = pagePath(pages.template, { id });
    return visit.show(refusedPage({ title: titleOf(template), crumbs: crumbsOf(template), cancel, refusal }));
  }
  const latest = template.latest_version;
  const base = latest === null ? null : await visit.read(getVersion, { params: { id, version: latest } });
  const form = typed ?? (base ? await fillNext(visit, base) : blankForm());
  const offered = await findOfferedTools(visit.em, { teamId: template.team_id, environmentId: null });
  const environments = await readCheckPlaces(visit, template.team_id);
  const shown = { template, base, form, problems, offered, environments, found };
  return visit.show(publishPage(shown), problems?.status ?? (found?.valid === false ? 422 : 200));
}

/**
 * The initial form for the version after another one. Variables and outputs that were derived from files are left out, because they will be
 * derived again.
 */
async function fillNext({ em }: TemplateVisit, base: ShownVersion): Promise<PublishForm> {
  const { spec } = await loadVersionById(em, base.id);
  if (spec.executor.kind !== 'opentofu') return fillForm(base);
  const typed = withoutDerived(spec, await readFiles(em, base.id), spec.executor.git?.path);
  if (typed === null) return fillForm(base);
  const { variables: _variables, outputs: _outputs, ...others } = base.spec;
  return { ...fillForm({ ...base, spec: { ...others, ...typed } }), derive: yesIf(true) };
}

/**
 * Whether the new version would be equal to the one that the form started from. A version from a repository never counts as equal, because
 * the repository may have changed.
 */
async function isUnchanged(
  visit: TemplateVisit,
  form: PublishForm,
  base: ShownVersion,
  spec: object,
): Promise<boolean> {
  const first = await fillNext(visit, base);
  if (first.source !== form.source || form.source === 'git' || first.derive !== form.derive) return false;
  return isDeepStrictEqual(composeSpec(visit, first, base), spec);
}

/** The environment whose connections the check uses; null if none. If a typed name matches no environment, adds a problem to the field. */
async function readCheckPlace(visit: TemplateVisit, form: PublishForm): Promise<string | null> {
  if (form.check_environment_id === '') return null;
  const { team_id: teamId } = await visit.read(getTemplate, { params: visit.params });
  const field = checkPlaceField(await readCheckPlaces(visit, teamId), form);
  return (await resolveNames(visit, [field], form)).check_environment_id;
}

export async function submitPublish(visit: TemplateVisit): Promise<FastifyReply> {
  const { id } = visit.params;
  const form = keepSelected(readPublishForm(visit.request.body));
  const base = form.base ? await visit.read(getVersion, { params: { id, version: form.base } }) : null;
  let found: ShownCheck | null = null;
  const sent = await submit(visit, namesOf(form), async () => {
    const { version, changelog } = form;
    const spec = composeSpec(visit, form, base);
    const asked = { derive: isYes(form.derive), check_environment_id: await readCheckPlace(visit, form) };
    // A check in an environment resolves the modules again, with the connections there, so the version may differ.
    if (base && form.only !== 'check' && !asked.check_environment_id && (await isUnchanged(visit, form, base, spec)))
      visit.addProblem(
        'source',
        `nothing differs from ${base.version}: change the spec, choose other files, or choose an environment for the check, which resolves the modules anew`,
      );
    if (form.only !== 'check')
      return visit.run(publish, { params: { id }, body: { version, changelog, spec, ...asked } });
    if (visit.problems.length > 0) return;
    found = await visit.read(check, { params: { id }, body: { spec, ...asked } });
  });
  if (!sent.done) return showPublish(visit, atSource(sent.problems), form);
  if (found) return showPublish(visit, null, form, found);
  return visit.redirect(pagePath(pages.templateVersion, { id, version: form.version }, { done: 'published' }));
}

/**
 * The environments whose connections the visitor may use for a check: those of the template's team, or of all teams for a template of the
 * installation.
 */
async function readCheckPlaces(visit: Visit, teamId: string | null): Promise<Choices> {
  if (describeClosed('connections', visit.principal.closedFeatures) !== null) return { choices: [], isCut: false };
  const query = { limit: '200', ...(teamId && { team_id: teamId }) };
  const { environments, next_cursor: next } = await visit.read(listEnvironments, { query });
  const usable = environments.filter(
    ({ organization_id: organizationId, team_id: ofTeam }) =>
      decide(visit.principal, checkPlaceAccess, { organizationId, teamId: ofTeam }).allowed,
  );
  return nameEnvironments(visit, usable, usable.length > 0 ? next : null);
}
