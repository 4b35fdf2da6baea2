/** Whether this is `npm run test:long`, which repeats on every version and runtime what the suite shows once. */
export const isLong = process.env.FRAMEWORK_TEST_LONG === '1'
