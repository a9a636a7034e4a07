import genericOauth2 from './generic-oauth2.json' with { type: 'json' }
import github from './github.json' with { type: 'json' }

/** The catalogue, one file a connector: by name, the general ones last. They are parsed where they are used. */
export const CONNECTOR_FILES: readonly unknown[] = [github, genericOauth2]
