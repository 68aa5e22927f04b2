import { type Crumb, renderPageHead } from '#api/web/components/page-head.ts';
import { checkboxField } from '#api/web/forms/fields/checkbox.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import { fieldId, renderForm, renderFormField } from '#api/web/forms/form.ts';
import type { FormProblems } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toolFields } from '#api/workers/tool-fields.ts';
import type { OfferedTool } from '#domain/workers/offered-tools.ts';
import { renderDraftCheck } from '../check-view.ts';
import type { ShownCheck, ShownTemplate, ShownVersion } from '../views.ts';
import { blankForm, type PublishForm, type Source } from './publish-form.ts';
import { problemOf } from './source-problems.ts';

export interface PublishPage {
  readonly template: ShownTemplate;
  readonly base: ShownVersion | null;
  readonly form: PublishForm;
  readonly problems: FormProblems | null;
  /** The tools that workers have. */
  readonly offered: readonly OfferedTool[];
  /** The environments whose connections the visitor may use for the check. */
  readonly environments: Choices;
  /** The result of a check without a publication. */
  readonly found: ShownCheck | null;
}

export function titleOf({ name }: ShownTemplate): string {
  return `Publish a version of ${name}`;
}

export function crumbsOf({ id, name }: ShownTemplate): Crumb[] {
  return [
    { label: 'Catalog', path: pagePath(pages.catalog) },
    { label: name, path: pagePath(pages.template, { id }) },
  ];
}

export function publishPage(shown: PublishPage): Page {
  const { template, problems, found } = shown;
  const { id } = template;
  const title = titleOf(template);
  return {
    title,
    hasProblem: problems !== null || found?.valid === false,
    main: html`<div class="page">
${renderPageHead({
  title,
  crumbs: crumbsOf(template),
  below: 'The version is checked first, which takes up to 30 seconds. A published version never changes.',
})}
${found ? renderDraftCheck(found) : null}
<div class="panel publish">${renderForm({
      action: pagePath(pages.publishVersion, { id }),
      hasFiles: true,
      problems,
      fields: [
        ...versionFields(shown),
        renderSource(shown),
        specField(shown),
        ...toolsOf(shown),
        ...checkFields(shown),
      ],
      submit: html`<button class="button button-primary" type="submit">Check and publish</button><button class="button" type="submit" name="only" value="check">Check only</button>`,
      cancel: pagePath(pages.template, { id }),
      waiting:
        'A worker checks it now: it fetches modules and providers, and validates the files. That takes 30 seconds at most. What is not checked by then is checked later.',
    })}</div></div>`,
  };
}

/** The fields for the version's number and changelog. */
function versionFields({ base, form }: PublishPage): FormField[] {
  return [
    { name: 'base', label: 'Base', kind: 'hidden', value: form.base },
    {
      name: 'version',
      label: 'Version',
      value: form.version,
      hint: base
        ? `A semantic version. The latest is ${base.version}.`
        : 'A semantic version, such as 1.0.0 or 2.0.0-rc.1.',
    },
    {
      name: 'changelog',
      label: 'Changelog',
      kind: 'area',
      value: form.changelog,
      isOptional: true,
    },
  ];
}

/** The field for the spec. It is folded for a first version from files, because the spec is still empty. */
function specField({ form }: PublishPage): FormField {
  const saysNothing = form.source !== 'spec' && form.spec === blankForm().spec;
  return {
    name: 'spec',
    label: 'Spec',
    kind: 'code',
    value: form.spec,
    foldedAs: saysNothing ? 'Spec: variables, outputs, approval and more' : undefined,
    hint: html`JSON with variables, outputs, executor and more: see <a href="${pagePath(pages.templateGuide)}">Writing templates</a>.`,
  };
}

function toolsOf({ form, offered }: PublishPage): FormField[] {
  return toolFields(offered, 'Detect from the files and their required_version', 'spec.tool').map((field) => ({
    ...field,
    value: form[field.name === 'spec.tool.name' ? field.name : 'spec.tool.version'],
  }));
}

/** The fields for the check: what it reads from the files, and whose connections it uses. */
function checkFields({ form, environments }: PublishPage): FormField[] {
  const derive = checkboxField('derive', 'Read variables and outputs from the files', isYes(form.derive), {
    isOptional: true,
    hint: 'OpenTofu and Terraform only: types, defaults, rules and descriptions. The spec above takes precedence. A template without a readme gets the one of the files.',
  });
  const isAsked = environments.choices.length > 0 || form.check_environment_id !== '';
  return isAsked ? [derive, checkPlaceField(environments, form)] : [derive];
}

/** The field that chooses the environment whose connections the check uses. */
export function checkPlaceField(environments: Choices, form: PublishForm): FormField {
  return {
    name: 'check_environment_id',
    label: 'Environment for private modules',
    kind: 'select',
    value: form.check_environment_id,
    isOptional: true,
    ...environments,
    choices: [{ value: '', label: 'None: without credentials' }, ...environments.choices],
    hint: 'The check uses the git and registry connections that are bound in this environment. The modules that it downloads become part of the version.',
  };
}

const sourceLabels: Readonly<Record<Source, string>> = {
  keep: 'Keep files',
  upload: 'Upload files',
  git: 'Copy from a git repository (templates of OpenTofu only)',
  spec: 'From the spec',
};

const maxListed = 10;

/** The files that were selected before the form was shown again. Browsers do not restore a selection of files. */
function renderSelected({ selected }: PublishForm): Html | null {
  if (selected === '') return null;
  const paths = Object.keys(JSON.parse(selected));
  const more = paths.length > maxListed ? ` and ${paths.length - maxListed} more` : '';
  return html`<div class="form-part source-upload"><p class="field-hint">Selected: <span class="foreign">${paths.slice(0, maxListed).join(', ')}</span>${more}. Selecting others replaces them.</p>
<input type="hidden" name="selected" value="${selected}"></div>`;
}

function renderSource({ base, form, problems }: PublishPage): Html {
  const offered = (Object.keys(sourceLabels) as Source[]).filter((source) => source !== 'keep' || base !== null);
  const problem = problemOf(problems, 'source');
  const labelOf = (source: Source) => (source === 'keep' ? `Keep those of ${base?.version}` : sourceLabels[source]);
  const field = (each: FormField) => renderFormField(each, problemOf(problems, each.name));
  return html`<fieldset class="group sources" id="${fieldId('source')}" tabindex="-1"><legend>Files</legend>
<div class="choices">${offered.map(
    (source) =>
      html`<label class="choice"><input type="radio" name="source" value="${source}" ${source === form.source ? html`checked` : null}> <span>${labelOf(source)}</span></label>`,
  )}</div>
${problem ? html`<p class="field-problem">${problem}</p>` : null}
<div class="form-part source-upload">
${field({ name: 'files', label: 'Files', kind: 'files', isOptional: true, hint: 'Placed at the root of the version.' })}
${field({ name: 'folder', label: 'Or a folder', kind: 'folder', isOptional: true, hint: 'Includes everything except .git and .terraform.' })}</div>
${renderSelected(form)}
<div class="form-part source-git">
${field({ name: 'git_url', label: 'URL of the repository', value: form.git_url, hint: 'Begins with https://, without a password. For a repository that needs a connection, such as one at ssh://git@host/path, choose “From the spec” and name both in the spec.' })}
${field({ name: 'git_ref', label: 'Branch, tag or commit', value: form.git_ref, hint: 'Resolved to a commit when you publish.' })}
${field({ name: 'git_path', label: 'Folder in the repository', value: form.git_path, isOptional: true })}</div>
</fieldset>`;
}
