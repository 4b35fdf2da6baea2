import type { Json } from '../json.ts'

/** A schema that may become a component of the document. */
export interface Part {
  /** The name of its component, if that is free. */
  readonly name: string
  /** Its direction, where a validator differs for requests and answers. */
  readonly direction: 'input' | 'output' | undefined
  /** Whether it has a name of its own: then it is always a component. */
  isNamed: boolean
  /** Whether a reference refers to it: then it cannot be inlined. */
  isReferred: boolean
  /** How many places of the document use it. */
  uses: number
  /** The schema in JSON Schema 2020-12, with links in place of references. */
  body: unknown
}

/** A place for a part, with keywords that apply beside it. */
export class Link {
  readonly part: Part
  readonly beside: Json | undefined

  constructor(part: Part, beside?: Json) {
    this.part = part
    this.beside = beside
  }
}

/** The address of a part as a string, for a discriminator. */
export class Address {
  readonly part: Part

  constructor(part: Part) {
    this.part = part
  }
}

/** A reference to a component with a name of the application: whether that exists is known at the end. */
export class NamedLink {
  readonly name: string
  readonly beside: Json | undefined

  constructor(name: string, beside?: Json) {
    this.name = name
    this.beside = beside
  }
}
