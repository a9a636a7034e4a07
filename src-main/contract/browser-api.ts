/**
 * How a browser is opened in `local-trust`. POST `{token}` of a link returns `{key}` and sets a cookie; GET returns
 * `{isOpened, needsSignIn}`. The page sends the key with every request. In `local-auth` it gets its key when somebody signs in.
 */
export const BROWSER_PATH = '/api/browser'
export const PAGE_KEY_HEADER = 'x-deckhand-page'
/** A page that a person opened has the key in this element. */
export const PAGE_KEY_META = 'deckhand-page'
