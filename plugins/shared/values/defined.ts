/** An object whose members may be missing, but are not `undefined`. */
export type Defined<Members extends object> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> }

/** The members that are not `undefined`: a package takes one that is `undefined` as given, in place of its own default. */
export function defined<Members extends object>(members: Members): Defined<Members> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<Members>
}
