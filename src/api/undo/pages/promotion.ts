import { createHash } from 'node:crypto';
import { checkboxField } from '#api/web/forms/fields/checkbox.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { type Html, html } from '#api/web/html.ts';
import type { ShownAttempt } from './labels.ts';

/** Explains what a promotion does, and what the visitor confirms by it. */
export function explainPromotion({ candidate }: ShownAttempt): Html {
  return html`<p>A run deploys what was planned. It plans again and follows every policy: it may need approval, which someone other than the person who made the change must give. If the instance changes before it applies, it ends without changing anything.</p>${
    candidate?.collateral?.length
      ? html`<p>The plan also affects resources that the run itself did not change, or whose addresses have a secret in them, so that nobody can tell whether it did. Select each of them to confirm.</p>`
      : null
  }`;
}

/** The fields of a promotion. Each affected resource has its own box, which the visitor checks to accept it. */
export function promotionFields({ candidate }: ShownAttempt): FormField[] {
  const resources = (candidate?.collateral ?? []).map((address) =>
    checkboxField(nameOfResource(address), address, false, { isUnkept: true }),
  );
  return [
    { name: 'candidate_digest', label: 'Candidate', kind: 'hidden', value: candidate?.digest ?? '' },
    ...resources,
    {
      name: 'message',
      label: 'Message',
      isOptional: true,
      hint: 'Shown to reviewers.',
    },
  ];
}

/**
 * The name of a resource's box. It is derived from the address, because after another plan, an index could mean another resource. Different
 * addresses get different names.
 */
export function nameOfResource(address: string): string {
  return `resource-${createHash('sha256').update(address).digest('hex')}`;
}
