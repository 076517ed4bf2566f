"""Make uci.csv: 8 classifiers on 16 UCI data sets under 3 metrics, as printed in the GSD paper.

Source: tables 4 (AUC), 5 (accuracy) and 6 (Brier score) of C. Jansen, M. Nalenz, G. Schollmeyer,
T. Augustin, "Statistical Comparisons of Classifiers by Generalized Stochastic Dominance", Journal of
Machine Learning Research 24, 2023. Figures and names of the data sets as printed; the classifiers go by the
short names of the paper's figures (BDS: boosted stumps, EN: elastic net). All 384 figures were compared
with the means over the authors' ten folds, rounded to three decimals: none differs.
"""

from pathlib import Path

TARGET = Path(__file__).with_name("uci.csv")

CLASSIFIERS = ("BDS", "CART", "EN", "GBM", "GLM", "LASSO", "RF", "RIDGE")

AUC = """
australian         0.937 0.901 0.930 0.943 0.929 0.929 0.937 0.931
banknote           1.000 0.976 1.000 1.000 1.000 1.000 1.000 1.000
biodeg             0.926 0.847 0.917 0.926 0.922 0.917 0.937 0.916
blood transfusion  0.738 0.722 0.751 0.736 0.752 0.752 0.670 0.751
diabetes           0.830 0.763 0.833 0.838 0.831 0.833 0.826 0.832
haberman           0.657 0.556 0.717 0.697 0.713 0.728 0.673 0.720
heart              0.906 0.823 0.904 0.902 0.912 0.906 0.904 0.910
ILPD               0.728 0.674 0.714 0.732 0.738 0.717 0.754 0.719
Ionosphere         0.972 0.915 0.910 0.973 0.866 0.904 0.980 0.913
liver              0.649 0.587 0.671 0.650 0.668 0.662 0.606 0.672
parkinsons         0.942 0.830 0.873 0.957 0.866 0.867 0.951 0.853
pop failures       0.910 0.817 0.943 0.937 0.952 0.941 0.923 0.942
sonar              0.904 0.784 0.831 0.927 0.755 0.838 0.946 0.855
spambase           0.981 0.892 0.952 0.981 0.971 0.952 0.986 0.952
wbdc               0.993 0.960 0.994 0.992 0.962 0.994 0.991 0.993
wilt               0.990 0.956 0.970 0.989 0.977 0.970 0.989 0.963
"""

ACC = """
australian         0.865 0.845 0.859 0.864 0.859 0.859 0.867 0.859
banknote           0.995 0.965 0.975 0.989 0.987 0.975 0.993 0.977
biodeg             0.870 0.824 0.861 0.866 0.865 0.860 0.871 0.856
blood transfusion  0.788 0.784 0.771 0.789 0.770 0.771 0.761 0.773
diabetes           0.751 0.734 0.769 0.763 0.773 0.771 0.768 0.772
haberman           0.735 0.719 0.735 0.729 0.742 0.735 0.725 0.732
heart              0.805 0.786 0.832 0.812 0.842 0.839 0.815 0.848
ILPD               0.700 0.671 0.710 0.712 0.724 0.708 0.705 0.712
Ionosphere         0.926 0.875 0.869 0.937 0.878 0.872 0.937 0.877
liver              0.583 0.569 0.629 0.606 0.615 0.626 0.554 0.629
parkinsons         0.902 0.841 0.876 0.922 0.860 0.876 0.907 0.861
pop failures       0.926 0.928 0.915 0.943 0.957 0.915 0.924 0.915
sonar              0.818 0.755 0.756 0.842 0.736 0.737 0.842 0.794
spambase           0.944 0.893 0.884 0.939 0.927 0.884 0.954 0.884
wbdc               0.963 0.944 0.961 0.961 0.960 0.961 0.963 0.956
wilt               0.976 0.977 0.943 0.980 0.969 0.943 0.982 0.945
"""

BRIER = """
australian         0.095 0.119 0.106 0.091 0.101 0.106 0.096 0.106
banknote           0.011 0.032 0.034 0.011 0.009 0.034 0.006 0.041
biodeg             0.099 0.141 0.123 0.100 0.101 0.123 0.093 0.126
blood transfusion  0.156 0.157 0.159 0.156 0.155 0.159 0.183 0.159
diabetes           0.163 0.195 0.163 0.158 0.158 0.163 0.161 0.163
haberman           0.191 0.203 0.184 0.187 0.183 0.183 0.194 0.184
heart              0.134 0.168 0.132 0.133 0.128 0.132 0.131 0.130
ILPD               0.182 0.224 0.187 0.179 0.176 0.187 0.172 0.187
Ionosphere         0.058 0.099 0.114 0.051 0.105 0.117 0.050 0.111
liver              0.248 0.278 0.234 0.242 0.228 0.235 0.253 0.233
parkinsons         0.070 0.126 0.112 0.061 0.111 0.114 0.072 0.117
pop failures       0.052 0.058 0.061 0.043 0.033 0.061 0.055 0.061
sonar              0.120 0.204 0.181 0.110 0.264 0.176 0.124 0.169
spambase           0.046 0.094 0.112 0.048 0.059 0.112 0.039 0.111
wbdc               0.025 0.050 0.059 0.028 0.040 0.059 0.030 0.062
wilt               0.017 0.019 0.044 0.015 0.024 0.044 0.013 0.044
"""


def csv_text() -> str:
    """Return the three tables in long form: one row a classifier, data set and metric."""
    lines = ["model,sample,metric,score"]
    for metric, table in (("auc", AUC), ("acc", ACC), ("brier", BRIER)):
        for row in table.strip().splitlines():
            # From the right, as two data sets have a space in their name.
            dataset, *figures = row.rsplit(maxsplit=len(CLASSIFIERS))
            lines += [
                f"{classifier},{dataset},{metric},{figure}"
                for classifier, figure in zip(CLASSIFIERS, figures, strict=True)
            ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(csv_text(), encoding="utf-8", newline="\n")
