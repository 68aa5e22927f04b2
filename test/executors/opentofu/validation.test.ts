import { describe, expect, it } from 'vitest';
import { maxDiagnosticLengths } from '#domain/runs/diagnostics/model.ts';
import { readValidation } from '#executors/opentofu/validation.ts';

describe('the message on what a check could not check', () => {
  it('is cut between characters, so that the database accepts it', () => {
    const detail = `${'x'.repeat(maxDiagnosticLengths.detail - 'Module not installed: '.length - 1)}😀😀`;
    const said = { diagnostics: [{ severity: 'error', summary: 'Module not installed', detail }] };
    const [text = ''] = readValidation(Buffer.from(JSON.stringify(said)), [], '').unchecked;
    expect(text.length).toBeLessThanOrEqual(maxDiagnosticLengths.detail);
    expect(text.isWellFormed()).toBe(true);
  });

  it('is one line in which separators stand for line breaks', () => {
    const detail = 'these providers are missing:\n\nexample.org/a/b is not cached\nexample.org/a/c is not cached';
    const said = { diagnostics: [{ severity: 'error', summary: 'Missing required provider', detail }] };
    expect(readValidation(Buffer.from(JSON.stringify(said)), [], '').unchecked).toEqual([
      'Missing required provider: these providers are missing: example.org/a/b is not cached; example.org/a/c is not cached',
    ]);
  });
});
