import { describe, expect, it } from 'vitest';
import { renderSummary } from '#api/web/forms/form.ts';

const fields = [
  { name: 'name', label: 'Name' },
  { name: 'version', label: 'Version' },
  { name: 'reason', label: 'Reason' },
];

describe('the summary of the problems of a form', () => {
  it('lists the problems in the order of the fields, and those of unknown fields last', () => {
    const problems = { reason: 'Too long.', other: 'Unknown.', version: 'Wrong.', name: 'Missing.' };
    const text = String(renderSummary({ status: 400, fields: problems, others: [] }, fields));
    const links = [...text.matchAll(/<a href="#[^"]*">([^<]*)<\/a>/g)].map(([, label]) => label);
    expect(links).toEqual(['Name', 'Version', 'Reason', 'other']);
  });
});
