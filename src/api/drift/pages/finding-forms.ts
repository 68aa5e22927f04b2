import { formPage } from '#api/web/forms/form-page.ts';
import { toUtc } from '#api/web/forms/read-form.ts';
import { revisionField } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { reopen, suppress, suppressMany } from '../finding-operations.ts';
import { remediate } from '../remediation-operations.ts';
import { renderDeviation, renderExpectation } from './deviation.ts';
import type { ShownFinding } from './labels.ts';
import { driftCrumb, findingForm, titleOf } from './views.ts';

const suppressionFields = () =>
  [
    {
      name: 'reason',
      label: 'Reason',
      kind: 'area',
      hint: 'Why the current value is acceptable until then.',
    },
    {
      name: 'until',
      label: 'Until (UTC)',
      kind: 'datetime',
      value: new Date(Date.now() + 30 * 24 * 3600_000).toISOString().slice(0, 16),
      hint: 'At most one year from now. The finding then opens again.',
    },
  ] as const;

function acceptanceOf({ evidence }: Pick<ShownFinding, 'evidence'>): string {
  return evidence.expectation
    ? 'You accept whatever value an apply makes. If somebody changes it outside of the service, the finding opens again.'
    : 'You accept the current value. If a scan finds another value, the finding opens again.';
}

const directionWords = {
  revert: 'Revert: apply the last deployed configuration again',
  adopt: 'Adopt: record the actual values in the state, and change no resources',
} as const;

/** The value of a finding's box in a list. It includes the evidence in the list, because that value is the one to accept. */
export function toChoice({ id, evidence }: Pick<ShownFinding, 'id' | 'evidence'>): string {
  return `${id}:${evidence.id}`;
}

function fromChoice(choice: string): { id: string; evidence_id: string } {
  const [id = '', evidence_id = ''] = choice.split(':');
  return { id, evidence_id };
}

/** The address contains the findings that were chosen in a list, so that the form works without scripts. */
const bulkSuppressionForm = formPage(pages.suppressDriftFindings, {
  read: async (visit) => visit.queryAll('findings'),
  describe: (chosen) => ({
    title: 'Suppress findings',
    crumbs: [driftCrumb],
    lead: `You accept the current ${chosen.length === 1 ? 'value of one finding' : `values of ${chosen.length} findings`}. A finding opens again if a scan finds another value.`,
    fields: suppressionFields(),
    submit: 'Suppress',
    cancel: pagePath(pages.drift),
    refusal: chosen.length === 0 ? 'select at least one finding in the list first' : null,
  }),
  carryOut: async (chosen, { reason = '', until = '' }, visit) => {
    const findings = chosen.map(fromChoice);
    await visit.run(suppressMany, { body: { findings, reason, until: toUtc(until) ?? '' } });
    return pagePath(pages.drift, {}, { done: 'suppressed' });
  },
});

/** The forms that suppress, reopen and remedy findings. */
export const findingForms = [
  findingForm(pages.suppressDriftFinding, 'suppress', {
    describe: (finding) => ({
      title: 'Suppress the finding',
      lead: html`<p>${acceptanceOf(finding)}</p><div class="value-changes">${renderDeviation(finding.evidence)}</div>${renderExpectation(finding.evidence)}`,
      fields: [
        ...suppressionFields(),
        { name: 'evidence_id', label: 'Evidence', kind: 'hidden', value: finding.evidence.id },
      ],
      submit: 'Suppress',
    }),
    carryOut: async ({ id }, { evidence_id = '', reason = '', until = '' }, visit) => {
      await visit.run(suppress, { params: { id }, body: { evidence_id, reason, until: toUtc(until) ?? '' } });
      return pagePath(pages.driftFinding, { id }, { done: 'suppressed' });
    },
  }),
  findingForm(pages.reopenDriftFinding, 'reopen', {
    describe: () => ({
      title: 'Reopen the finding',
      lead: 'The suppression ends now.',
      fields: [{ name: 'reason', label: 'Reason', kind: 'area' }],
      submit: 'Reopen',
    }),
    carryOut: async ({ id }, { reason = '' }, visit) => {
      await visit.run(reopen, { params: { id }, body: { reason } });
      return pagePath(pages.driftFinding, { id }, { done: 'reopened' });
    },
  }),
  findingForm(pages.remedyDriftFinding, 'remediate', {
    describe: (finding) => ({
      title: `Remediate ${titleOf(finding)}`,
      lead: html`<p>A run is planned and waits for another person's approval. It is based on the latest scan. If the instance changes in the meantime, the run ends without applying.</p><div class="value-changes">${renderDeviation(finding.evidence)}</div>${renderExpectation(finding.evidence)}`,
      fields: [
        {
          name: 'direction',
          label: 'How',
          kind: 'radio',
          value: 'revert',
          choices: finding.remediation_directions.map((value) => ({ value, label: directionWords[value] })),
        },
        { name: 'evidence_id', label: 'Evidence', kind: 'hidden', value: finding.evidence.id },
        revisionField(finding),
      ],
      submit: 'Request the run',
    }),
    carryOut: async ({ id: finding }, { direction, evidence_id }, visit) => {
      const { id } = await visit.run(remediate, { params: { id: finding }, body: { direction, evidence_id } });
      return pagePath(pages.run, { id });
    },
  }),
  bulkSuppressionForm,
];
