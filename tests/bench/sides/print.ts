/** The program that most figures run. */
export const PRINT = 'print(1)'
