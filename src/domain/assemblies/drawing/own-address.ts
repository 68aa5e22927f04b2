/** Whether an address is a path of this service, rather than a script or another host. */
export function isOwnAddress(address: string | undefined): address is string {
  return address !== undefined && /^\/(?![/\\])/.test(address) && !/[\u0000-\u0020\\]/.test(address);
}
