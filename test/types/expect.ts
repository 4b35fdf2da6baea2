/** Whether two types are the same to the compiler: `any`, `unknown`, optional and readonly members are distinguished. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Does not compile unless the type is `true`. */
export type Expect<T extends true> = T

/** Does not compile when the type is `any`, which would make every other expectation meaningless. */
export type NotAny<T> = 0 extends 1 & T ? false : true
