import type { OpenApiRoute, OpenApiServer } from '../openapi/index.ts'
import {
  type AccessOptions,
  commonMembers,
  componentsOfKind,
  infoWith,
  servedMembers,
  servedOf,
  server,
} from '../shared/descriptions/options.ts'
import type { SecurityRequirement } from '../shared/descriptions/security.ts'
import { publicDescription } from '../shared/doctor/public-page.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { readServer } from './document/servers.ts'
import type { AsyncApiInfo, AsyncApiTag } from './types.ts'

/** The parts of a description, and the choice of routes that it includes. */
export interface MessageDescriptionOptions {
  /** Title and version of the application, and other information. Default: title `API`, version `1.0.0`. */
  info?: Partial<AsyncApiInfo>
  /** Where channels are: `wss://api.example.com`, `mqtts://broker.example.com`. `https` means `wss`, and `http` means `ws`. */
  servers?: readonly OpenApiServer[]
  /** The security requirements of every websocket that sets none of its own. */
  security?: readonly SecurityRequirement[]
  /** Descriptions of tags, in the order in which pages show them. */
  tags?: readonly AsyncApiTag[]
  /** Merged with the document's own: `schemas` may refer to others; `securitySchemes` of OpenAPI or AsyncAPI replace those of policies. */
  components?: {
    readonly schemas?: { readonly [name: string]: object | boolean }
    readonly securitySchemes?: { readonly [name: string]: object }
  }
  /** A link to further documentation: `url` and `description`. */
  externalDocs?: { url: string; description?: string }
  /** Decides whether a websocket is described; default: all, except on routes with `apidoc: false`. */
  include?: (route: OpenApiRoute) => boolean
}

/** Options of the description of messages. */
export interface AsyncApiOptions extends MessageDescriptionOptions, AccessOptions {
  /** The path of the document, to which `.json` and `.yaml` are appended. Default `/asyncapi`. */
  path?: string
}

const description = {
  info: infoWith({}),
  servers: option
    .list(
      server.into((given, place) => {
        if (readServer(given as OpenApiServer) === undefined)
          place.in('url').wrong(given.url, 'an address with a protocol and a host: "wss://api.example.com"')
        return given
      }),
    )
    .says('a list of objects { url, description }'),
  ...commonMembers,
  components: option
    .shape({ schemas: componentsOfKind('schemas'), securitySchemes: componentsOfKind('asyncSecuritySchemes') })
    .optional(),
  include: option.fn<(route: OpenApiRoute) => boolean>('a function of the route'),
}

export const messageDescriptionOptions = option.shape(description).typed<MessageDescriptionOptions>()

export type MessageDescriptionSettings = SettingsOf<typeof messageDescriptionOptions>

/** @internal */
export const asyncapiOptions = option
  .shape({ ...servedMembers('/asyncapi'), ...description })
  .into(servedOf)
  .typed<AsyncApiOptions>()

/** The finding for a description that no option guards. @internal */
export const unguarded = publicDescription<SettingsOf<typeof asyncapiOptions>>('asyncapi', ({ path }) => [
  'the message description',
  `${path}.json`,
])
