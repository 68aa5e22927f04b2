/** A request that the viewer is about to send. */
interface ViewerRequest {
  credentials?: string;
  /** Sends the request, in place of `fetch`. */
  userFetch?: () => Promise<never>;
}

/** The arguments that the viewer passes to a function that wraps one of its actions. */
interface ViewerSystem {
  /** The credentials that the reader typed under "Authorize", by the name of the security scheme. */
  readonly authSelectors: { authorized(): { readonly size: number } };
  getConfigs(): { requestInterceptor?: (request: ViewerRequest) => ViewerRequest };
}

/**
 * A plugin of the viewer. "Try it out" sends a request with the credential that the reader typed under "Authorize" and without cookies, or
 * sends nothing if the reader typed none. So a session in the same browser cannot change anything by accident. The browser gets the source
 * text of this function, so it must not refer to anything outside itself. (specification, *What the service does*)
 */
export function sendWithTypedKey() {
  const refuse = () => Promise.reject(new Error('Nothing was sent: type your API key under "Authorize" first.'));
  const wrap =
    (execute: (tried: unknown) => unknown, { authSelectors, getConfigs }: ViewerSystem) =>
    (tried: unknown) => {
      getConfigs().requestInterceptor = (request) => {
        request.credentials = 'omit';
        if (authSelectors.authorized().size === 0) request.userFetch = refuse;
        return request;
      };
      return execute(tried);
    };
  return { statePlugins: { spec: { wrapActions: { executeRequest: wrap } } } };
}
