// compile: -O2
int f(void);
int f(void)
{
    return 2 ^ 3;
}
