/** What a form sends for "yes": for a box that is checked, or for a choice between doing something and not. */
const yes = 'yes';

/** Whether a field was sent with "yes". Browsers do not send an unchecked box, so its value is empty. */
export function isYes(sent: string | undefined): boolean {
  return sent === yes;
}

/** The value with which a field says whether something is so. */
export function yesIf(isSo: boolean): string {
  return isSo ? yes : '';
}
