import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const options = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  rules: { 'target-size': { enabled: true } },
  // What passes is only counted: to describe every node of it takes most of the time.
  resultTypes: ['violations', 'incomplete'],
};

/** What axe finds wrong with a page as it stands (WCAG 2.2 A and AA, best practice), or cannot judge: normally nothing. */
export async function findAccessibilityFaults(page: Page): Promise<string[]> {
  // What lies below the bar that stays in place cannot be judged.
  await page.evaluate('window.scrollTo(0, 0)');
  // A script tag would be stopped by the page's own policy.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axeSource);
  const results = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResults;
  if (results.passes.length < 10) throw new Error(`axe judged next to nothing: ${results.passes.length} rules passed`);
  return [...results.violations, ...results.incomplete.map(withoutUnknowable)].flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${node.target.join(' ')} ${node.failureSummary ?? ''}`),
  );
}

type Rule = AxeResults['incomplete'][number];

/**
 * Axe does not know what lies behind the text of a drawing, nor behind a line of a log that something which stays in place covers in part, so it
 * cannot judge their contrast. Drawings use the colours of texts and statuses on the colour of panels, which it judges everywhere else; it judges
 * the lines of a log that nothing covers. It does not judge characters that only draw, either, such as those of the frames around errors, nor a text
 * that is cut off where its row of tabs scrolls, nor one in two directions that it takes to cover itself.
 */
function withoutUnknowable(rule: Rule): Rule {
  if (rule.id !== 'color-contrast') return rule;
  const isUnknowable = ({ html, target, any, failureSummary = '' }: Rule['nodes'][number]) =>
    html.startsWith('<text ') ||
    any.some((check) => isCutOff(check, String(target))) ||
    /\[data-line=|#L\d/.test(target.join(' ')) ||
    failureSummary.includes('only non-text characters');
  return { ...rule, nodes: rule.nodes.filter((node) => !isUnknowable(node)) };
}

/**
 * Whether axe found no other element over a text: it names the text itself, or the page where a row that scrolls ends, or nothing where the text
 * is wider than what cuts it off.
 */
function isCutOff({ data, relatedNodes = [] }: Rule['nodes'][number]['any'][number], target: string): boolean {
  if (data?.messageKey === 'elmPartiallyObscuring' && relatedNodes.length === 0) return true;
  const isObscured = data?.messageKey === 'elmPartiallyObscured' && relatedNodes.length > 0;
  return isObscured && relatedNodes.every((other) => ['body', target].includes(String(other.target)));
}
