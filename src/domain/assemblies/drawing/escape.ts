const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text for XML, as content or in quotes. Characters that XML does not have become the replacement character. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** Whether an address is a path of this service, rather than a script or another host. */
export function isOwnAddress(address: string | undefined): address is string {
  return address !== undefined && /^\/(?![/\\])/.test(address) && !/[\u0000-\u0020\\]/.test(address);
}
